#include "repl/kernel/output_stream.h"

#include <chrono>

namespace tercet {
namespace {

constexpr auto longest_wait = std::chrono::milliseconds(20);
constexpr size_t most_bytes = size_t{1} << 20;

}  // namespace

OutputStream::OutputStream(Send send) : send_(std::move(send)), sender_([this] { run(); }) {}

OutputStream::~OutputStream() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  sender_.join();
}

void OutputStream::write(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (text_.empty()) changed_.notify_one();
  text_ += text;
  if (text_.size() >= most_bytes) send_now();
}

void OutputStream::flush() {
  std::lock_guard lock(mutex_);
  send_now();
}

void OutputStream::send_now() {
  if (!text_.empty()) send_(text_);
  text_.clear();
}

void OutputStream::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    changed_.wait(lock, [&] { return ended_ || !text_.empty(); });
    changed_.wait_for(lock, longest_wait, [&] { return ended_; });
    send_now();
  }
}

}  // namespace tercet
