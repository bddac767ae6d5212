#include "interpreter/runtime/line_stream.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "interpreter/runtime/byte_stream.h"
#include "interpreter/runtime/parallel.h"
#include "interpreter/runtime/text_arena.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

constexpr size_t piece = 1 << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

class LineStream {
 public:
  explicit LineStream(const std::string& path) : path_(path), bytes_(path) {}
  const std::string& path() const { return path_; }
  int64_t line() const { return line_; }
  double share() const { return bytes_.share(); }

  /// The next lines, fewer at the end. They refer to a block that the array keeps.
  Array next(int64_t count, InvalidBytes invalid) {
    std::vector<std::pair<size_t, size_t>> found;   // begin, length in the block
    std::string block = std::move(rest_);
    size_t at = 0, searched = 0;
    while (static_cast<int64_t>(found.size()) < count) {
      const size_t end = block.find('\n', searched);
      if (end == std::string::npos) {
        searched = block.size();
        if (!more(block)) break;
        if (line_ == 0 && at == 0 && found.empty() && block.starts_with(byte_order_mark)) at = byte_order_mark.size(), offset_ = static_cast<int64_t>(at);
        continue;
      }
      found.emplace_back(at, end - at);
      at = searched = end + 1;
    }
    if (static_cast<int64_t>(found.size()) < count && at < block.size()) {
      found.emplace_back(at, block.size() - at);
      at = block.size();
    }
    rest_ = block.substr(at);
    block.resize(at);
    Array out = Array::make(DType::Str, {static_cast<int64_t>(found.size())});
    std::shared_ptr<Buffer> kept = Buffer::allocate(static_cast<int64_t>(block.size()));
    std::memcpy(kept->data(), block.data(), block.size());
    const char* text = reinterpret_cast<const char*>(kept->data());
    TextArena repaired;
    for (size_t i = 0; i < found.size(); ++i) {
      std::string_view line(text + found[i].first, found[i].second);
      if (line.ends_with('\r')) line.remove_suffix(1);
      const size_t bad = find_invalid_utf8(line);
      const bool replaced = bad != std::string_view::npos && invalid == InvalidBytes::Replace;
      if (bad != std::string_view::npos && !replaced) fail_invalid(line, bad);
      if (line.size() > (replaced ? UINT32_MAX / 3 : UINT32_MAX)) fail(Kind::Limit, {}, fmt::format("\"{}\" has a line of more than 4 GiB", path_));
      out.data<StringRef>()[i] = replaced ? repaired.add(replace_invalid_utf8(line)) : StringRef(line);
      ++line_;
      offset_ += static_cast<int64_t>(found[i].second) + 1;
      poll_at(static_cast<int64_t>(i));
    }
    out.owners.push_back(kept);
    repaired.give_to(out);
    return out;
  }
  bool at_end() { return rest_.empty() && !more(rest_); }

 private:
  bool more(std::string& block) {
    const size_t before = block.size();
    block.resize(before + piece);
    const size_t got = bytes_.read(block.data() + before, piece);
    block.resize(before + got);
    return got > 0;
  }
  [[noreturn]] void fail_invalid(std::string_view line, size_t at) const {
    fail(Kind::Io, {},
         fmt::format("\"{}\" is not UTF-8 text: byte 0x{:02x} at line {}, byte {} of the line (offset {} in the text)", path_,
                     static_cast<unsigned char>(line[at]), line_ + 1, at + 1, offset_ + static_cast<int64_t>(at)),
         "convert it (iconv -f latin1 -t utf-8), or read it with errors=\"replace\"");
  }

  std::string path_;
  ByteStream bytes_;
  std::string rest_;      // read, and not given out yet
  int64_t line_ = 0, offset_ = 0;
};

/// Streams that stand between two chunks.
struct OpenStreams {
  std::mutex mutex;
  std::vector<LineStream> streams;
};

}  // namespace

LineChunk read_line_chunk(const std::string& path, int64_t from, int64_t count, InvalidBytes invalid) {
  if (count < 1) fail(Kind::Value, {}, fmt::format("a chunk has at least one line, and this asks for {}", count));
  static OpenStreams open;
  std::optional<LineStream> stream;
  if (from > 0) {
    std::scoped_lock lock(open.mutex);
    for (size_t i = 0; i < open.streams.size(); ++i)
      if (open.streams[i].path() == path && open.streams[i].line() == from) {
        stream = std::move(open.streams[i]);
        open.streams.erase(open.streams.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
  }
  if (!stream) {
    stream.emplace(path);
    while (stream->line() < from && stream->next(std::min(count, from - stream->line()), invalid).count() > 0) {}
  }
  LineChunk out{stream->next(count, invalid), -1, 1};
  if (stream->at_end()) return out;
  out.next = stream->line();
  out.share = stream->share();
  std::scoped_lock lock(open.mutex);
  constexpr size_t most_open = 8;
  if (open.streams.size() >= most_open) open.streams.erase(open.streams.begin());
  open.streams.push_back(std::move(*stream));
  return out;
}

}  // namespace tercet
