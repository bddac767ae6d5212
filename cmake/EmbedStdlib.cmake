# Run with cmake -P: writes the texts of FOLDER/*.tct into the C++ file OUTPUT.
file(GLOB files ${FOLDER}/*.tct)
list(SORT files)
set(entries "")
set(count 0)
foreach(path ${files})
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text HEX)
  # Bytes as a list of numbers: no delimiter or length limit to respect.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${text}")
  string(APPEND texts "const unsigned char text_${count}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", view(text_${count}, sizeof text_${count} - 1)},\n")
  math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
  set(body "  return {};\n")
else()
  set(body "  static const std::pair<std::string_view, std::string_view> sources[] = {\n${entries}  };\n  return sources;\n")
endif()
file(WRITE ${OUTPUT}.new
"// Made from stdlib/*.tct by cmake/EmbedStdlib.cmake.
#include \"interpreter/elaborate/stdlib.h\"

namespace tercet {
namespace {

${texts}
[[maybe_unused]] std::string_view view(const unsigned char* text, size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> stdlib_sources() {
${body}}

}  // namespace tercet
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
