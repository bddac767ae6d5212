// Any bytes as a program: parsing must end in an answer or in diagnostics.
#include <cstddef>
#include <cstdint>
#include <string>

#include "grammar/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tercet::SourceMap sources;
  const auto& source = sources.add("fuzz.tct", std::string(reinterpret_cast<const char*>(data), size));
  for (const auto& diagnostic : tercet::parse(source).diagnostics) tercet::render(diagnostic, sources);
  return 0;
}
