#include "interpreter/runtime/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/unicode.h"

namespace tercet {
namespace {

std::string number(double v) { return fmt::format("{:.6g}", v); }

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

double largest(std::span<const double> values) {
  double top = 0;
  for (double v : values)
    if (std::isfinite(v)) top = std::max(top, v);
  return top;
}

struct Range {
  double low = 0, high = 1;
  double share(double v) const { return (v - low) / (high - low); }
};
Range range_of(std::span<const double> values) {
  Range r{INFINITY, -INFINITY};
  for (double v : values)
    if (std::isfinite(v)) r.low = std::min(r.low, v), r.high = std::max(r.high, v);
  if (!(r.low <= r.high)) return {};
  if (r.low == r.high) r.low -= 0.5, r.high += 0.5;
  return r;
}

/// A grid of dots, eight in a Braille character.
class Canvas {
 public:
  Canvas(int64_t width, int64_t height) : width_(width), height_(height), cells_(static_cast<size_t>(width * height)) {}
  void dot(int64_t x, int64_t y) {   // from the lower left corner
    if (x < 0 || y < 0 || x >= 2 * width_ || y >= 4 * height_) return;
    static constexpr uint8_t bits[4][2] = {{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
    cells_[static_cast<size_t>((height_ - 1 - y / 4) * width_ + x / 2)] |= bits[y % 4][x % 2];
  }
  void line(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
    const int64_t steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), int64_t{1}});
    for (int64_t s = 0; s <= steps; ++s)
      dot(x0 + static_cast<int64_t>(std::lround(static_cast<double>((x1 - x0) * s) / static_cast<double>(steps))),
          y0 + static_cast<int64_t>(std::lround(static_cast<double>((y1 - y0) * s) / static_cast<double>(steps))));
  }
  std::string row(int64_t r) const {
    std::string out;
    for (int64_t x = 0; x < width_; ++x) append_code_point(out, 0x2800u + cells_[static_cast<size_t>(r * width_ + x)]);
    return out;
  }

 private:
  int64_t width_, height_;
  std::vector<uint8_t> cells_;
};

}  // namespace

std::string bar_chart(std::span<const std::string_view> labels, std::span<const double> values, int64_t width, bool svg) {
  const double top = largest(values);
  auto length = [&](size_t i) { return std::isfinite(values[i]) && values[i] > 0 && top > 0 ? values[i] / top : 0.0; };
  if (svg) {
    std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n", 20 * labels.size() + 10);
    for (size_t i = 0; i < labels.size(); ++i) {
      poll_at(static_cast<int64_t>(i));
      const auto y = 20 * i + 5;
      out += fmt::format("<text x=\"150\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"158\" y=\"{}\" width=\"{:.1f}\" height=\"14\" fill=\"#4477aa\"/><text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                         y + 12, escaped(labels[i]), y, 400 * length(i), 163 + 400 * length(i), y + 12, number(values[i]));
    }
    return out + "</svg>\n";
  }
  int64_t widest = 0;
  PollCounter polls;
  for (std::string_view label : labels) polls.add(4), widest = std::max(widest, count_code_points(label));
  std::string out;
  for (size_t i = 0; i < labels.size(); ++i) {
    polls.add(64);
    out.append(static_cast<size_t>(widest - count_code_points(labels[i])), ' ').append(labels[i]) += ' ';
    const auto eighths = static_cast<int64_t>(std::lround(length(i) * 8 * static_cast<double>(width)));
    for (int64_t k = 0; k < eighths / 8; ++k) append_code_point(out, 0x2588);
    if (eighths % 8) append_code_point(out, static_cast<uint32_t>(0x2590 - eighths % 8));
    out += fmt::format("{}{}{}", eighths ? " " : "", number(values[i]), i + 1 < labels.size() ? "\n" : "");
  }
  return out;
}

std::string line_plot(std::span<const double> x, std::span<const double> y, int64_t width, int64_t height, bool svg) {
  const Range across = range_of(x), up = range_of(y);
  auto seen = [&](size_t i) { return std::isfinite(x[i]) && std::isfinite(y[i]); };
  if (svg) {
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"400\" font-family=\"sans-serif\" font-size=\"12\">\n"
                      "<rect x=\"60\" y=\"10\" width=\"570\" height=\"360\" fill=\"none\" stroke=\"#888\"/>\n<polyline fill=\"none\" stroke=\"#4477aa\" points=\"";
    for (size_t i = 0; i < x.size(); ++i)
      if (poll_at(static_cast<int64_t>(i)), seen(i)) out += fmt::format("{:.1f},{:.1f} ", 60 + 570 * across.share(x[i]), 370 - 360 * up.share(y[i]));
    out += fmt::format("\"/>\n<text x=\"55\" y=\"20\" text-anchor=\"end\">{}</text><text x=\"55\" y=\"370\" text-anchor=\"end\">{}</text>", number(up.high), number(up.low));
    return out + fmt::format("<text x=\"60\" y=\"388\">{}</text><text x=\"630\" y=\"388\" text-anchor=\"end\">{}</text>\n</svg>\n", number(across.low), number(across.high));
  }
  Canvas canvas(width, height);
  int64_t px = -1, py = -1;
  for (size_t i = 0; i < x.size(); ++i) {
    poll_at(static_cast<int64_t>(i));
    if (!seen(i)) {
      px = -1;
      continue;
    }
    const int64_t cx = std::lround(across.share(x[i]) * static_cast<double>(2 * width - 1)), cy = std::lround(up.share(y[i]) * static_cast<double>(4 * height - 1));
    if (px >= 0) canvas.line(px, py, cx, cy);
    else canvas.dot(cx, cy);
    px = cx, py = cy;
  }
  const std::string high = number(up.high), low = number(up.low);
  const size_t margin = std::max(high.size(), low.size());
  std::string out;
  for (int64_t r = 0; r < height; ++r) {
    const std::string& label = r == 0 ? high : r == height - 1 ? low : std::string();
    out += fmt::format("{:>{}} ", label, margin);
    append_code_point(out, 0x2502);
    out += canvas.row(r) + "\n";
  }
  const std::string left = number(across.low), right = number(across.high);
  const int64_t gap = std::max<int64_t>(1, width - static_cast<int64_t>(left.size() + right.size()));
  return out + std::string(margin + 2, ' ') + left + std::string(static_cast<size_t>(gap), ' ') + right;
}

}  // namespace tercet
