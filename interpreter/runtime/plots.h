// Plots as text: for the terminal, of block and Braille characters, or as SVG.
//
// Example:  bar_chart({"the", "cat"}, {3, 1}, 20, false)   the ████████████████████ 3
//                                                        cat ██████▋ 1
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tercet {

/// A bar for each label; the longest is `width` characters. Values that are no numbers or negative have no bar.
std::string bar_chart(std::span<const std::string_view> labels, std::span<const double> values, int64_t width, bool svg);

/// Points (x, y), joined in the order given, with the ranges of both axes. Points that are not finite are left out.
std::string line_plot(std::span<const double> x, std::span<const double> y, int64_t width, int64_t height, bool svg);

}  // namespace tercet
