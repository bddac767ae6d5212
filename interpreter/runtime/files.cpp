#include "interpreter/runtime/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "interpreter/runtime/byte_stream.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/text_arena.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

constexpr int64_t first_read = 64 << 10, largest_read = 4 << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void system_error(const char* what, const std::string& path, int error) {
  fail(Kind::Io, {}, fmt::format("cannot {} \"{}\": {}", what, path, std::strerror(error)));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (number_ < 0) system_error(flags & O_WRONLY ? "write" : "read", path, errno);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

struct Bytes {
  std::shared_ptr<Buffer> buffer;
  int64_t size = 0;
};

/// A compressed file, whole.
Bytes read_compressed(const std::string& path) {
  ByteStream file(path);
  Bytes bytes{Buffer::allocate(first_read), 0};
  for (;;) {
    if (bytes.size == bytes.buffer->size()) {
      std::shared_ptr<Buffer> larger = Buffer::allocate(2 * bytes.size);
      copy_bytes(larger->data(), bytes.buffer->data(), static_cast<size_t>(bytes.size));
      bytes.buffer = std::move(larger);
    }
    const int64_t room = std::min(bytes.buffer->size() - bytes.size, largest_read);
    const size_t got = file.read(reinterpret_cast<char*>(bytes.buffer->data()) + bytes.size, static_cast<size_t>(room));
    if (got == 0) return bytes;
    bytes.size += static_cast<int64_t>(got);
  }
}

/// Reads to the end. The size known beforehand is a first guess only: files grow, and pipes have none.
Bytes read_all(const std::string& path) {
  if (is_compressed(path)) return read_compressed(path);
  Descriptor file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(file, &status) != 0) system_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) system_error("read", path, EISDIR);
  int64_t capacity = std::max<int64_t>(first_read, S_ISREG(status.st_mode) ? status.st_size + 1 : 0);
  Bytes bytes{Buffer::allocate(capacity), 0};
  for (;;) {
    poll();
    if (bytes.size == bytes.buffer->size()) {
      std::shared_ptr<Buffer> larger = Buffer::allocate(2 * bytes.size);
      copy_bytes(larger->data(), bytes.buffer->data(), static_cast<size_t>(bytes.size));
      bytes.buffer = std::move(larger);
    }
    int64_t room = std::min(bytes.buffer->size() - bytes.size, largest_read);
    ssize_t got = ::read(file, bytes.buffer->data() + bytes.size, static_cast<size_t>(room));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) system_error("read", path, errno);
    if (got == 0) return bytes;
    bytes.size += got;
  }
}

void check_utf8(const std::string& path, std::string_view text) {
  size_t at = find_invalid_utf8(text);
  if (at == std::string_view::npos) return;
  auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
  size_t line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;   // npos + 1 is 0
  fail(Kind::Io, {},
       fmt::format("\"{}\" is not UTF-8 text: byte 0x{:02x} at line {}, byte {} of the line (offset {} in the file)", path,
                   static_cast<unsigned char>(text[at]), line, at - line_begin + 1, at),
       "convert it (iconv -f latin1 -t utf-8), or read it with errors=\"replace\"");
}

/// A string array whose elements refer to the file's bytes.
Array refer_to(const FileText& file, const std::vector<std::string_view>& texts) {
  Array out = Array::make(DType::Str, {static_cast<int64_t>(texts.size())});
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() > UINT32_MAX)
      fail(Kind::Limit, {}, fmt::format("\"{}\" has a text of more than 4 GiB, which is more than a string can hold", file.path));
    poll_at(static_cast<int64_t>(i));
    out.data<StringRef>()[i] = StringRef(texts[i]);
  }
  out.owners.push_back(file.buffer);
  return out;
}

}  // namespace

FileBytes load_bytes(const std::string& path) {
  Bytes bytes = read_all(path);
  return {path, bytes.buffer, {reinterpret_cast<const char*>(bytes.buffer->data()), static_cast<size_t>(bytes.size)}};
}

FileText load_text(const std::string& path, InvalidBytes invalid) {
  Bytes bytes = read_all(path);
  std::string_view text(reinterpret_cast<const char*>(bytes.buffer->data()), static_cast<size_t>(bytes.size));
  if (invalid == InvalidBytes::Replace && !is_valid_utf8(text)) {
    const std::string repaired = replace_invalid_utf8(text);
    bytes = {Buffer::allocate(static_cast<int64_t>(repaired.size())), static_cast<int64_t>(repaired.size())};
    std::memcpy(bytes.buffer->data(), repaired.data(), repaired.size());
    text = {reinterpret_cast<const char*>(bytes.buffer->data()), repaired.size()};
  }
  check_utf8(path, text);
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return {path, std::move(bytes.buffer), text};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  size_t count = 0;
  in_strips(static_cast<int64_t>(text.size()), [&](int64_t begin, int64_t end) {
    count += static_cast<size_t>(std::count(text.begin() + begin, text.begin() + end, '\n'));
  });
  lines.reserve(count + 1);
  while (!text.empty()) {
    size_t end = find_part(text, "\n");
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    poll_at(static_cast<int64_t>(lines.size()));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Array read_text(const std::string& path, InvalidBytes invalid) {
  FileText file = load_text(path, invalid);
  return refer_to(file, {file.text}).row(0);
}

Array read_lines(const std::string& path, InvalidBytes invalid) {
  FileText file = load_text(path, invalid);
  return refer_to(file, lines_of(file.text));
}

void write_text(const std::string& path, std::string_view content) {
  std::string compressed;
  if (is_compressed(path)) compressed = compressed_for(path, content);
  std::string_view text = is_compressed(path) ? compressed : content;
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  while (!text.empty()) {
    poll();
    ssize_t put = ::write(file, text.data(), std::min<size_t>(text.size(), largest_read));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) system_error("write", path, errno);
    text.remove_prefix(static_cast<size_t>(put));
  }
}

}  // namespace tercet
