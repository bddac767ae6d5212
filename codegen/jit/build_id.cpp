#include "codegen/jit/build_id.h"

#include <elf.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>

#include <cstring>
#include <string_view>

namespace tercet::codegen {
namespace {

std::string id_in_notes(const char* at, const char* end) {
  auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char *name = at + sizeof note, *content = name + padded(note.n_namesz);
    at = content + padded(note.n_descsz);
    if (at > end) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return std::string(content, note.n_descsz);
  }
  return "";
}

struct Search {
  ElfW(Addr) code;
  std::string own, llvm;
};

int look(dl_phdr_info* file, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  bool own = false, llvm = std::string_view(file->dlpi_name).find("libLLVM") != std::string_view::npos;
  std::string id;
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file->dlpi_phdr[i];
    ElfW(Addr) begin = file->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) own |= search->code >= begin && search->code - begin < part.p_memsz;
    if (part.p_type == PT_NOTE && id.empty()) {
      const char* notes = reinterpret_cast<const char*>(begin);
      id = id_in_notes(notes, notes + part.p_memsz);
    }
  }
  if (own) search->own = id;
  if (llvm) search->llvm += id;
  return 0;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    Search search{reinterpret_cast<ElfW(Addr)>(&id_in_notes), {}, {}};
    dl_iterate_phdr(look, &search);
    return search.own.empty() ? "" : search.own + search.llvm + LLVM_VERSION_STRING;
  }();
  return id;
}

}  // namespace tercet::codegen
