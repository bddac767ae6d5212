#include "interpreter/runtime/byte_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/diagnostic.h"
#include "interpreter/runtime/polling.h"

namespace tercet {

bool is_compressed(std::string_view path) { return path.ends_with(".gz") || path.ends_with(".zst"); }

struct ByteStream::Source {
  explicit Source(const std::string& name) : path(name), file(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file < 0) fail(Kind::Io, {}, fmt::format("cannot read \"{}\": {}", path, std::strerror(errno)));
    struct stat status {};
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) size = status.st_size;
  }
  virtual ~Source() { ::close(file); }
  virtual size_t read(char* to, size_t size) { return raw(to, size); }

  size_t raw(char* to, size_t size) {
    for (;;) {
      poll();
      ssize_t got = ::read(file, to, size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(Kind::Io, {}, fmt::format("cannot read \"{}\": {}", path, std::strerror(errno)));
      place += got;
      return static_cast<size_t>(got);
    }
  }
  [[noreturn]] void damaged(const char* what) const {
    fail(Kind::Io, {}, fmt::format("\"{}\" is damaged: {} before byte {}", path, what, place), "make the compressed file again");
  }

  std::string path;
  int file;
  int64_t place = 0;   // bytes read of the file itself
  int64_t size = -1;   // of the file when it was opened, where it has one
};

namespace {

constexpr size_t piece = 64 << 10;

struct GzipSource final : ByteStream::Source {
  explicit GzipSource(const std::string& name) : Source(name), in(piece) {
    if (inflateInit2(&z, 15 + 16) != Z_OK) fail(Kind::Limit, {}, "no memory to decompress");
  }
  ~GzipSource() override { inflateEnd(&z); }
  size_t read(char* to, size_t size) override {
    z.next_out = reinterpret_cast<Bytef*>(to);
    z.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt wanted = z.avail_out;
    while (z.avail_out == wanted) {
      if (z.avail_in == 0) {
        z.avail_in = static_cast<uInt>(raw(in.data(), in.size()));
        z.next_in = reinterpret_cast<Bytef*>(in.data());
        if (z.avail_in == 0) {
          if (!between) damaged("the data ends too early");
          return 0;
        }
      }
      between = false;
      const int status = inflate(&z, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {   // files joined one after another are one
        between = true;
        inflateReset(&z);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        damaged(z.msg ? z.msg : "no gzip data");
      }
    }
    return wanted - z.avail_out;
  }
  z_stream z{};
  std::vector<char> in;
  bool between = true;   // before a member, where the file may end
};

struct ZstdSource final : ByteStream::Source {
  explicit ZstdSource(const std::string& name) : Source(name), in(piece), stream(ZSTD_createDStream()) {
    if (!stream) fail(Kind::Limit, {}, "no memory to decompress");
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream); }
  size_t read(char* to, size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (given.pos == given.size) {
        given = {in.data(), raw(in.data(), in.size()), 0};
        if (given.size == 0) {
          if (left) damaged("the data ends too early");
          return 0;
        }
      }
      left = ZSTD_decompressStream(stream, &out, &given);
      if (ZSTD_isError(left)) damaged(ZSTD_getErrorName(left));
    }
    return out.pos;
  }
  std::vector<char> in;
  ZSTD_DStream* stream;
  ZSTD_inBuffer given{nullptr, 0, 0};
  size_t left = 0;   // 0: at the end of a frame
};

}  // namespace

ByteStream::ByteStream(const std::string& path) {
  if (path.ends_with(".gz")) source_ = std::make_unique<GzipSource>(path);
  else if (path.ends_with(".zst")) source_ = std::make_unique<ZstdSource>(path);
  else source_ = std::make_unique<Source>(path);
}
ByteStream::~ByteStream() = default;
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;
size_t ByteStream::read(char* to, size_t size) { return size ? source_->read(to, size) : 0; }

double ByteStream::share() const {
  if (source_->size <= 0) return -1;
  return std::min(1.0, static_cast<double>(source_->place) / static_cast<double>(source_->size));
}

/// Between two polls: some milliseconds of compression.
constexpr size_t given_at_once = 256 << 10;

std::string compressed_for(const std::string& path, std::string_view bytes) {
  if (path.ends_with(".zst")) {
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> z(ZSTD_createCCtx(), ZSTD_freeCCtx);
    if (!z) fail(Kind::Limit, {}, "no memory to compress");
    ZSTD_CCtx_setPledgedSrcSize(z.get(), bytes.size());
    std::string out;
    std::vector<char> part(ZSTD_CStreamOutSize());
    for (size_t given = 0, left = 1; left != 0;) {
      poll();
      const size_t some = std::min(given_at_once, bytes.size() - given);
      const bool last = given + some == bytes.size();
      ZSTD_inBuffer in{bytes.data() + given, some, 0};
      for (bool done = false; !done;) {
        ZSTD_outBuffer to{part.data(), part.size(), 0};
        left = ZSTD_compressStream2(z.get(), &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) fail(Kind::Limit, {}, "no memory to compress");
        out.append(part.data(), to.pos);
        done = last ? left == 0 : in.pos == in.size;
      }
      given += some;
      if (!last) left = 1;
    }
    return out;
  }
  if (!path.ends_with(".gz")) return std::string(bytes);
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) fail(Kind::Limit, {}, "no memory to compress");
  std::string out;
  std::vector<char> part(piece);
  size_t given = 0;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ending(&z, deflateEnd);
  for (int status = Z_OK; status != Z_STREAM_END;) {
    poll();
    if (z.avail_in == 0 && given < bytes.size()) {
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));
      z.avail_in = static_cast<uInt>(std::min(bytes.size() - given, given_at_once));
      given += z.avail_in;
    }
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    status = deflate(&z, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    out.append(part.data(), part.size() - z.avail_out);
  }
  return out;
}

}  // namespace tercet
