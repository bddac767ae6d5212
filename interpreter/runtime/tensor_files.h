// Arrays in files of other systems: .npy and .npz (NumPy), .safetensors. Read with all checks; a malformed file is an error `io`
// that says what is wrong and at which byte. Little-endian machines only, as all that Tercet runs on.
//
// Sources: NumPy's format description (numpy.lib.format, versions 1 to 3), PKWARE's APPNOTE for zip with zip64, the safetensors
// README. Big-endian and Fortran-ordered arrays are converted; dtypes that Tercet has not (complex, objects, texts) are errors.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

Array load_npy(const std::string& path);
void save_npy(const std::string& path, const Array& array);
/// In the order of the file.
NamedArrays load_npz(const std::string& path);
void save_npz(const std::string& path, const NamedArrays& arrays);
NamedArrays load_safetensors(const std::string& path);
void save_safetensors(const std::string& path, const NamedArrays& arrays);

}  // namespace tercet
