// Runs the rows of a benchmark suite (bench/suite.h) on request. Usage: bench_runner SUITE [--threads N]
//
// Every line of standard input is a command, every answer one line of JSON on standard output. An answer to a command
// that fails is {"error": text}.
//   rows          [{"name", "title", "calls", "inputs": [{"name", "dtype", "shape", "low", "high"}], "notes": {}}, …]
//   load NAME     {"ok": true}: a fresh session with the row's inputs and program; nothing of it is compiled yet
//   first         {"ns": n}: the expression for the first time: read, elaborated, compiled, run
//   run K         {"ns": [n, …]}: K times again (fewer when a second is over), each the time of one of the row's calls
//   probe         {"leaves": [{"dtype", "shape", "sum", "abs", "samples": […]}]}: of the last result
//   release       {"ok": true}: forgets the session and the inputs
//   triad BYTES   {"bytes_per_second": x}
//   fma           {"operations_per_second": x}
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>

#include "bench/machine.h"
#include "bench/suite.h"
#include "interpreter/engine/session.h"
#include "interpreter/runtime/parallel.h"
#if TERCET_HAS_LLVM
#include "codegen/backend.h"
#endif

namespace tercet::bench {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  return out + "\"";
}

/// JSON has no NaN and no infinity: they are texts here.
std::string number(double x) { return std::isfinite(x) ? fmt::format("{}", x) : fmt::format("\"{}\"", x); }

template <class List, class F>
std::string listed(const List& list, const F& text) {
  std::string out;
  for (const auto& x : list) out += (out.empty() ? "" : ", ") + std::string(text(x));
  return "[" + out + "]";
}

std::string row_json(const Row& row) {
  auto input = [](const Input& in) {
    return fmt::format(R"({{"name": {}, "dtype": {}, "shape": {}, "low": {}, "high": {}}})", quoted(in.name),
                       quoted(name_of(in.dtype)), listed(in.shape, [](int64_t s) { return std::to_string(s); }), in.low,
                       in.high);
  };
  std::string notes;
  for (auto& [key, value] : row.notes) notes += (notes.empty() ? "" : ", ") + quoted(key) + ": " + quoted(value);
  return fmt::format(R"({{"name": {}, "title": {}, "calls": {}, "inputs": {}, "notes": {{{}}}}})", quoted(row.name),
                     quoted(row.title), row.calls, listed(row.inputs, input), notes);
}

constexpr int64_t sample_count = 101;

/// What two systems compare of a result: type, sums, and elements spread over it.
std::string leaf_json(const Array& a) {
  double sum = 0, size = 0;
  std::string samples;
  visit_dtype(a.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits>) {
      const int64_t n = a.count();
      auto at = [&](int64_t i) { return static_cast<double>(Compute<T>::load(a.data<T>()[i])); };
      for (int64_t i = 0; i < n; ++i) sum += at(i), size += std::abs(at(i));
      for (int64_t k = 0; k < std::min(n, sample_count); ++k)
        samples += (k ? ", " : "") + number(at(n <= sample_count ? k : (n - 1) * k / (sample_count - 1)));
    }
  });
  return fmt::format(R"({{"dtype": {}, "shape": {}, "sum": {}, "abs": {}, "samples": [{}]}})", quoted(name_of(a.dtype)),
                     listed(a.shape, [](int64_t s) { return std::to_string(s); }), number(sum), number(size), samples);
}

class Runner {
 public:
  Runner(std::vector<Row> rows, int threads, [[maybe_unused]] const std::string& cache) : rows_(std::move(rows)), threads_(threads) {
#if TERCET_HAS_LLVM
    backend_ = make_llvm_backend(cache);
#endif
    Session first(options());  // first calls are those of a process that has compiled something before
    check(first.run(first.add_source("warm up", "jit (x => x + 1)(arange(3))")), first);
  }

  std::string answer(const std::string& line) {
    auto space = line.find(' ');
    std::string command = line.substr(0, space), rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (command == "rows") return listed(rows_, row_json);
    if (command == "load") return load(rest);
    if (command == "first") return fmt::format(R"({{"ns": {:.0f}}})", timed(*once_));
    if (command == "run") {
      std::vector<double> times;
      double total = 0;
      for (int64_t k = std::stoll(rest); k > 0 && (times.empty() || total < 1e9); --k) {
        double ns = timed(*again_);
        total += ns;
        times.push_back(ns / static_cast<double>(row_->calls));
      }
      return fmt::format(R"({{"ns": {}}})", listed(times, [](double t) { return fmt::format("{:.1f}", t); }));
    }
    if (command == "probe") return probe();
    if (command == "release") {
      forget();
      return R"({"ok": true})";
    }
    if (command == "triad") return fmt::format(R"({{"bytes_per_second": {}}})", triad_bandwidth(std::stoll(rest)));
    if (command == "fma") return fmt::format(R"({{"operations_per_second": {}}})", fma_peak());
    throw std::runtime_error("unknown command " + command);
  }

 private:
  SessionOptions options() const {
    SessionOptions out;
    out.backend = backend_;
    out.compile.threads = threads_;
    return out;
  }

  void forget() {
    last_.reset();
    session_.reset();
    inputs_.clear();
    row_ = nullptr;
  }

  std::string load(const std::string& name) {
    auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.name == name; });
    if (row == rows_.end()) throw std::runtime_error("no row " + name);
    last_.reset();
    session_.reset();
    if (row_ != &*row) {
      forget();
      for (const Input& input : row->inputs) inputs_.push_back(input_array(input));
      row_ = &*row;
    }
    session_ = std::make_unique<Session>(options());
    for (size_t i = 0; i < inputs_.size(); ++i) session_->set(row_->inputs[i].name, Value(inputs_[i]));
    check(session_->run(session_->add_source(name, row_->program)), *session_);
    once_ = &session_->add_source(name + ":time", row_->time);
    again_ = row_->calls == 1 ? once_ : &session_->add_source(name + ":calls", looped());
    return R"({"ok": true})";
  }

  /// The expression as often as the row says, the last value kept.
  std::string looped() const {
    return fmt::format("{{\n  var result = {0}\n  for call in 1..{1} {{ result = {0} }}\n  result\n}}", row_->time,
                       row_->calls);
  }

  static void check(const Outcome& outcome, const Session& session) {
    if (outcome.ok()) return;
    std::string text;
    for (const Diagnostic& d : outcome.diagnostics) text += render(d, session.sources());
    throw std::runtime_error(text);
  }

  /// Nanoseconds from the text of a statement to its value. The value is dropped outside.
  double timed(const SourceFile& source) {
    if (!session_) throw std::runtime_error("load a row first");
    last_.reset();
    auto begin = std::chrono::steady_clock::now();
    Outcome outcome = session_->run(source);
    double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    check(outcome, *session_);
    last_ = std::move(outcome.value);
    return ns;
  }

  std::string probe() const {
    std::vector<Array> leaves;
    if (last_) collect_leaves(*last_, leaves);
    return fmt::format(R"({{"leaves": {}}})", listed(leaves, leaf_json));
  }

  std::vector<Row> rows_;
  int threads_;
  std::shared_ptr<Backend> backend_;
  const Row* row_ = nullptr;
  std::vector<Array> inputs_;
  std::unique_ptr<Session> session_;
  const SourceFile *once_ = nullptr, *again_ = nullptr;
  std::optional<Value> last_;
};

int serve(int argc, char** argv) {
  int threads = 0;
  std::string cache;  // directory of compiled code; none: every first call compiles
  bool good = argc >= 2 && argc % 2 == 0;
  for (int i = 2; good && i < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--threads") threads = std::stoi(argv[i + 1]);
    else if (option == "--cache") cache = argv[i + 1];
    else good = false;
  }
  if (!good) {
    fmt::print(stderr, "usage: bench_runner SUITE [--threads N] [--cache DIRECTORY]\n");
    return 2;
  }
  if (threads > 0) limit_threads(threads);
  Runner runner(read_suite(argv[1]), threads, cache);
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      answer = runner.answer(line);
    } catch (const std::exception& e) {
      answer = fmt::format(R"({{"error": {}}})", quoted(e.what()));
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace tercet::bench

int main(int argc, char** argv) {
  try {
    return tercet::bench::serve(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_runner: {}\n", e.what());
    return 2;
  }
}
