// A C++ program with Tercet inside.
#include <iostream>
#include <tercet/tercet.hpp>

int main() {
  tercet::Engine engine;
  tercet::Session session(engine, {.memory_bytes = 256 << 20, .deadline_ms = 2000});
  session.define("damp", "(f64, f64) -> f64", [](const tercet::Value& x, const tercet::Value& k) -> tercet::Value {
    return x.scalar<double>() / (1 + k.scalar<double>());
  });
  session.eval(R"(
    fn encode(ids: i32[t], table: f32[v, d]) -> f32[d] = mean(table[ids], axis=0)
    let encode_all = jit vmap[ids=0] encode
  )");
  auto encode = session.function("encode_all");
  auto ids = engine.array<int32_t>({0, 1, 1, 2}, {2, 2});   // the vectors move in, without a copy
  auto table = engine.array(std::vector<float>(30, 0.5f), {3, 10});
  tercet::Value pooled = encode(ids, table);
  auto rows = pooled.view<float>();
  std::cout << pooled.type() << " " << rows(1, 9) << " " << session.eval("damp(3.0, 0.5)").scalar<double>() << "\n";
  if (auto r = session.try_eval("encode_all([[9]], ones([3, 10]))"); !r) std::cout << r.error().code() << "\n";
}
