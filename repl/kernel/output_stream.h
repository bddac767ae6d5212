// What a cell prints, on its way to the notebook: soon, but not a message for every print.
//
// A message costs some 30 microseconds, and a socket that publishes drops what lies behind a thousand that nobody has taken yet. So
// text is collected for 20 ms, or to a MiB, and a thread of this object sends it also while the program computes on.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tercet {

class OutputStream {
 public:
  /// `send` publishes a text. It is called on the writing thread or on this object's own, never on two at once.
  using Send = std::function<void(const std::string&)>;
  explicit OutputStream(Send send);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;

  void write(std::string_view text);
  /// Sends what is there. To be called before anything else is published, which must come after it and on one thread.
  void flush();

 private:
  void send_now();              // with the lock
  void run();

  Send send_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;            // not sent yet
  bool ended_ = false;
  std::thread sender_;
};

}  // namespace tercet
