#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "interpreter/runtime/files.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/tensor_files.h"

namespace tercet {
namespace {

struct FilePlace {
  const std::string& path;
  size_t at = 0;   // where the array's bytes begin in the file
  [[noreturn]] void wrong(size_t offset, const std::string& what) const {
    fail(Kind::Io, {}, fmt::format("\"{}\" cannot be read: {} (byte {})", path, what, at + offset));
  }
};

template <class T> T little(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T> void append(std::string& out, T value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

// ---- npy ----
struct Header { DType dtype = DType::F32; bool big_endian = false, fortran = false; Shape shape; };

/// The value behind 'key': in the header's dictionary.
std::string_view entry(std::string_view header, std::string_view key, const FilePlace& place) {
  size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) place.wrong(0, fmt::format("its header has no '{}'", key));
  at = header.find(':', at);
  if (at == std::string_view::npos) place.wrong(0, "its header is cut off");
  std::string_view rest = header.substr(at + 1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

DType dtype_of(std::string_view code, const FilePlace& place) {
  struct Known { std::string_view code; DType dtype; };
  constexpr Known known[] = {{"b1", DType::Bool}, {"i1", DType::I8}, {"i2", DType::I16}, {"i4", DType::I32}, {"i8", DType::I64},
                             {"u1", DType::U8}, {"u2", DType::U16}, {"u4", DType::U32}, {"u8", DType::U64},
                             {"f2", DType::F16}, {"f4", DType::F32}, {"f8", DType::F64}};
  for (const Known& k : known)
    if (k.code == code) return k.dtype;
  place.wrong(0, fmt::format("its elements are '{}', which Tercet has no dtype for", code));
}

Header read_header(std::string_view text, const FilePlace& place) {
  Header h;
  std::string_view descr = entry(text, "descr", place);
  size_t end = descr.size() > 1 ? descr.find('\'', 1) : std::string_view::npos;
  if (!descr.starts_with('\'') || end == std::string_view::npos || end < 3) place.wrong(0, "its elements are records or of no known type");
  h.big_endian = descr[1] == '>';
  h.dtype = dtype_of(descr.substr(2, end - 2), place);
  std::string_view order = entry(text, "fortran_order", place);
  if (!order.starts_with("True") && !order.starts_with("False")) place.wrong(0, "fortran_order is neither True nor False");
  h.fortran = order.starts_with("True");
  std::string_view shape = entry(text, "shape", place);
  if (!shape.starts_with('(')) place.wrong(0, "its shape is no tuple");
  for (size_t i = 1;;) {
    while (i < shape.size() && (shape[i] == ' ' || shape[i] == ',')) ++i;
    if (i >= shape.size()) place.wrong(0, "its shape is cut off");
    if (shape[i] == ')') break;
    int64_t size = 0;
    const size_t first = i;
    for (; i < shape.size() && shape[i] >= '0' && shape[i] <= '9'; ++i)
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, shape[i] - '0', &size)) place.wrong(0, "a size is too large");
    if (i == first) place.wrong(0, "its shape has something that is no number");
    if (h.shape.rank() == max_rank) place.wrong(0, "it has too many axes");
    h.shape.push_back(size);
  }
  return h;
}

void swap_bytes(Array& a) {
  const size_t width = size_of(a.dtype);
  for (int64_t i = 0; i < a.count() && width > 1; ++i) poll_at(i), std::reverse(a.raw() + static_cast<size_t>(i) * width, a.raw() + static_cast<size_t>(i + 1) * width);
}

/// Elements in Fortran order, first axis fastest, in row-major order.
Array row_major(const Array& a) {
  Array out = Array::make(a.dtype, a.shape);
  const size_t width = size_of(a.dtype), rank = a.shape.size();
  std::vector<int64_t> at(rank, 0), stride(rank, 1);
  for (size_t k = 1; k < rank; ++k) stride[k] = stride[k - 1] * a.shape[k - 1];
  for (int64_t i = 0, n = a.count(); i < n; ++i) {
    poll_at(i);
    int64_t from = 0;
    for (size_t k = 0; k < rank; ++k) from += at[k] * stride[k];
    std::memcpy(out.raw() + static_cast<size_t>(i) * width, a.raw() + static_cast<size_t>(from) * width, width);
    for (size_t k = rank; k-- > 0 && ++at[k] == a.shape[k];) at[k] = 0;
  }
  return out;
}

Array parse_npy(std::string_view bytes, const FilePlace& place) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") place.wrong(0, "it does not begin as an npy file");
  const auto major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3) place.wrong(6, fmt::format("npy version {} is not known", major));
  const size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) place.wrong(bytes.size(), "the file ends in its header");
  const size_t length = major == 1 ? little<uint16_t>(bytes, 8) : little<uint32_t>(bytes, 8);
  if (bytes.size() - start < length) place.wrong(bytes.size(), "the file ends in its header");
  Header h = read_header(bytes.substr(start, length), place);
  int64_t count = 1;
  for (int64_t s : h.shape)
    if (__builtin_mul_overflow(count, s, &count) || count > (int64_t{1} << 58)) place.wrong(start, "its shape is too large");
  const size_t wanted = static_cast<size_t>(count) * size_of(h.dtype), there = bytes.size() - start - length;
  if (there < wanted) place.wrong(bytes.size(), fmt::format("the file ends after {} of {} bytes of elements", there, wanted));
  Array out = Array::make(h.dtype, h.shape);
  if (wanted) copy_bytes(out.raw(), bytes.data() + start + length, wanted);
  if (h.dtype == DType::Bool)
    in_strips(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out.data<uint8_t>()[i] = out.data<uint8_t>()[i] != 0;
    });
  if (h.big_endian) swap_bytes(out);
  return h.fortran && h.shape.rank() > 1 ? row_major(out) : out;
}

constexpr size_t append_part = 1 << 20;
/// out.append(bytes), with polls; where there is much to come, the caller reserves.
void append_bytes(std::string& out, std::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); at += append_part, poll()) out.append(bytes.substr(at, append_part));
}

std::string npy_bytes(const Array& a) {
  const char* codes[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "", "<f4", "<f8"};
  const DType order[] = {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};
  std::string code;
  for (size_t i = 0; i < std::size(order); ++i)
    if (order[i] == a.dtype) code = codes[i];
  if (code.empty() || a.ragged) fail(Kind::Type, {}, fmt::format("npy files hold no {}", a.ragged ? "rows of different length" : name_of(a.dtype)), a.ragged ? "save values and lengths: flatten(r), lengths(r)" : a.dtype == DType::Str ? "write texts with write_lines or write_jsonl" : "convert it first, as in f32(x)");
  std::string shape;
  for (int64_t s : a.shape) shape += fmt::format("{}, ", s);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  const size_t unpadded = 10 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  append(out, static_cast<uint16_t>(header.size()));
  out.reserve(out.size() + header.size() + static_cast<size_t>(a.bytes()));
  out += header;
  append_bytes(out, {reinterpret_cast<const char*>(a.raw()), static_cast<size_t>(a.bytes())});
  return out;
}

// ---- zip ----
uint32_t check_sum(std::string_view bytes) {
  uLong crc = 0;
  for (size_t at = 0; at < bytes.size(); at += append_part, poll())
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data() + at), std::min(append_part, bytes.size() - at));
  return static_cast<uint32_t>(crc);
}

constexpr uint32_t local_mark = 0x04034b50, central_mark = 0x02014b50, end_mark = 0x06054b50, end64_mark = 0x06064b50, locator_mark = 0x07064b50;

struct Member { std::string name; uint64_t packed = 0, size = 0, header = 0; uint32_t crc = 0; uint16_t method = 0; };

std::vector<Member> members_of(std::string_view zip, const FilePlace& place) {
  if (zip.size() < 22) place.wrong(zip.size(), "it is too short for a zip archive");
  size_t end = zip.size() - 22;
  const size_t lowest = end > 65535 ? end - 65535 : 0;
  while (little<uint32_t>(zip, end) != end_mark) {
    if (end == lowest) place.wrong(zip.size(), "it has no end of a zip archive: cut off?");
    --end;
  }
  uint64_t count = little<uint16_t>(zip, end + 10), size = little<uint32_t>(zip, end + 12), at = little<uint32_t>(zip, end + 16);
  if (end >= 20 && little<uint32_t>(zip, end - 20) == locator_mark) {
    const auto far = little<uint64_t>(zip, end - 20 + 8);
    if (far > zip.size() - 22 || zip.size() - far < 56 || little<uint32_t>(zip, far) != end64_mark) place.wrong(end - 20, "its zip64 record is not where it should be");
    count = little<uint64_t>(zip, far + 32), size = little<uint64_t>(zip, far + 40), at = little<uint64_t>(zip, far + 48);
  }
  if (at > zip.size() || size > zip.size() - at) place.wrong(end, "its directory lies outside the file");
  std::vector<Member> out;
  const size_t stop = at + size;
  for (uint64_t i = 0; i < count; ++i) {
    if (stop - at < 46 || little<uint32_t>(zip, at) != central_mark) place.wrong(at, "its directory is damaged");
    Member m;
    m.method = little<uint16_t>(zip, at + 10);
    m.crc = little<uint32_t>(zip, at + 16);
    m.packed = little<uint32_t>(zip, at + 20), m.size = little<uint32_t>(zip, at + 24), m.header = little<uint32_t>(zip, at + 42);
    const size_t name = little<uint16_t>(zip, at + 28), extra = little<uint16_t>(zip, at + 30), comment = little<uint16_t>(zip, at + 32);
    if (stop - at - 46 < name + extra + comment) place.wrong(at, "its directory is damaged");
    m.name = std::string(zip.substr(at + 46, name));
    for (size_t e = at + 46 + name, last = e + extra; last - e >= 4;) {   // sizes of more than 4 GiB stand in an extra field
      const size_t id = little<uint16_t>(zip, e), length = little<uint16_t>(zip, e + 2);
      if (last - e - 4 < length) break;
      size_t from = e + 4;
      const size_t until = from + length;
      for (uint64_t* value : {&m.size, &m.packed, &m.header})
        if (id == 1 && *value == UINT32_MAX && until - from >= 8) *value = little<uint64_t>(zip, from), from += 8;
      e = until;
    }
    at += 46 + name + extra + comment;
    out.push_back(std::move(m));
  }
  return out;
}

std::string inflated(std::string_view packed, const Member& m, const FilePlace& place) {
  if (m.size > (uint64_t{1} << 40)) place.wrong(m.header, "a member is too large");
  std::string out;
  z_stream z{};
  if (inflateInit2(&z, -15) != Z_OK) fail(Kind::Limit, {}, "no memory to decompress");
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  std::vector<char> part(1 << 16);
  int status = Z_OK;
  while (status == Z_OK && out.size() <= m.size) {
    poll();
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    status = inflate(&z, Z_NO_FLUSH);
    out.append(part.data(), part.size() - z.avail_out);
  }
  inflateEnd(&z);
  if (status != Z_STREAM_END || out.size() != m.size) place.wrong(m.header, fmt::format("its member {} is damaged", m.name));
  return out;
}

}  // namespace

Array load_npy(const std::string& path) {
  FileBytes file = load_bytes(path);
  return parse_npy(file.bytes, {path});
}
void save_npy(const std::string& path, const Array& array) { write_text(path, npy_bytes(array)); }

NamedArrays load_npz(const std::string& path) {
  FileBytes file = load_bytes(path);
  const FilePlace place{path};
  NamedArrays out;
  for (const Member& m : members_of(file.bytes, place)) {
    if (!m.name.ends_with(".npy")) continue;
    if (m.header > file.bytes.size() || file.bytes.size() - m.header < 30 || little<uint32_t>(file.bytes, m.header) != local_mark) place.wrong(m.header, fmt::format("its member {} is not where it should be", m.name));
    const size_t begin = m.header + 30 + little<uint16_t>(file.bytes, m.header + 26) + little<uint16_t>(file.bytes, m.header + 28);
    if (begin > file.bytes.size() || m.packed > file.bytes.size() - begin) place.wrong(m.header, fmt::format("its member {} is cut off", m.name));
    std::string_view packed = file.bytes.substr(begin, m.packed);
    std::string unpacked;
    if (m.method == 8) unpacked = inflated(packed, m, place), packed = unpacked;
    else if (m.method != 0) place.wrong(m.header, fmt::format("its member {} is compressed by method {}, which is not known", m.name, m.method));
    if (check_sum(packed) != m.crc) place.wrong(m.header, fmt::format("its member {} is damaged: the check sum differs", m.name));
    out.emplace_back(m.name.substr(0, m.name.size() - 4), parse_npy(packed, {path, begin}));
  }
  return out;
}

void save_npz(const std::string& path, const NamedArrays& arrays) {
  std::string zip, directory;
  size_t room = 0;
  for (const auto& [name, array] : arrays) room += static_cast<size_t>(array.bytes()) + name.size() + 256;
  zip.reserve(room);
  for (const auto& [name, array] : arrays) {
    const std::string bytes = npy_bytes(array), file = name + ".npy";
    const uint64_t header = zip.size();
    const uint32_t crc = check_sum(bytes);
    std::string extra;   // zip64: sizes of any number
    append(extra, uint16_t{1}), append(extra, uint16_t{16}), append(extra, uint64_t{bytes.size()}), append(extra, uint64_t{bytes.size()});
    append(zip, local_mark), append(zip, uint16_t{45}), append(zip, uint16_t{0x800}), append(zip, uint16_t{0}), append(zip, uint32_t{0x210000});
    append(zip, crc), append(zip, UINT32_MAX), append(zip, UINT32_MAX), append(zip, static_cast<uint16_t>(file.size())), append(zip, static_cast<uint16_t>(extra.size()));
    zip += file + extra;
    append_bytes(zip, bytes);
    std::string far;
    append(far, uint16_t{1}), append(far, uint16_t{24}), append(far, uint64_t{bytes.size()}), append(far, uint64_t{bytes.size()}), append(far, header);
    append(directory, central_mark), append(directory, uint16_t{45}), append(directory, uint16_t{45}), append(directory, uint16_t{0x800}), append(directory, uint16_t{0});
    append(directory, uint32_t{0x210000}), append(directory, crc), append(directory, UINT32_MAX), append(directory, UINT32_MAX);
    append(directory, static_cast<uint16_t>(file.size())), append(directory, static_cast<uint16_t>(far.size())), append(directory, uint16_t{0}), append(directory, uint16_t{0});
    append(directory, uint16_t{0}), append(directory, uint32_t{0}), append(directory, UINT32_MAX);
    directory += file + far;
  }
  const uint64_t at = zip.size();
  zip += directory;
  const uint64_t far = zip.size();
  append(zip, end64_mark), append(zip, uint64_t{44}), append(zip, uint16_t{45}), append(zip, uint16_t{45}), append(zip, uint32_t{0}), append(zip, uint32_t{0});
  append(zip, uint64_t{arrays.size()}), append(zip, uint64_t{arrays.size()}), append(zip, uint64_t{directory.size()}), append(zip, at);
  append(zip, locator_mark), append(zip, uint32_t{0}), append(zip, far), append(zip, uint32_t{1});
  const auto some = static_cast<uint16_t>(std::min<size_t>(arrays.size(), UINT16_MAX));
  append(zip, end_mark), append(zip, uint16_t{0}), append(zip, uint16_t{0}), append(zip, some), append(zip, some), append(zip, UINT32_MAX), append(zip, UINT32_MAX), append(zip, uint16_t{0});
  write_text(path, zip);
}

}  // namespace tercet
