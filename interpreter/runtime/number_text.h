// Numbers as text: the shortest decimal that reads back to the same value in its own dtype.
//
// Floats always carry a point, an exponent, `nan` or `inf`, so that they read back as floats: 1.0, 0.1, 1e20, 1.5e-7.
// Exponents begin where Python's do: below 1e-4 and from 1e16 on.
// Example:  append_number(out, 0.1f);   // "0.1", where a double of that value would need "0.10000000149011612"
#pragma once
#include <string>

#include "interpreter/runtime/dtype.h"

namespace tercet {

void append_number(std::string& out, double value);
void append_number(std::string& out, float value);
void append_number(std::string& out, Half value);
void append_number(std::string& out, BFloat value);
void append_number(std::string& out, int64_t value);
void append_number(std::string& out, uint64_t value);

}  // namespace tercet
