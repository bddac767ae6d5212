// Groups a flat `operation` (operand, operator, operand, …) by precedence: precedence climbing as in
// Richards, "The BCPL Reference Manual" (1967), with one Chain per level instead of a binary tree.
#include <fmt/format.h>

#include "grammar/builder.h"
#include "grammar/operator_table.h"

namespace tercet {

using enum TokenType;

class OperationReader {
 public:
  OperationReader(AstBuilder& builder, TreeNode operation) : builder_(builder), c_(operation) {}

  Made read(Level loosest) {
    Made left = prefixed(loosest);
    while (!c_.done() && level() >= loosest) left = links(std::move(left), level());
    return left;
  }

 private:
  struct Sign {
    ast::UnaryOp op;
    Span span;
  };
  /// `-a.b` in a power `c ** -a.b ** d`, with the place of the `**` before it.
  struct Factor {
    Span power;
    std::vector<Sign> signs;
    Made base;
  };

  Level level() const { return operator_row(c_.peek().type()).level; }

  Made links(Made left, Level at) {
    switch (at) {
      case Level::Pipe:
        return pipe(std::move(left));
      case Level::Range:
        return range(std::move(left));
      case Level::Comparison:
        return comparison(std::move(left));
      default:
        return chain(std::move(left), at);
    }
  }

  Made chain(Made left, Level at) {
    ast::Chain out{left.expr, {}};
    uint32_t height = left.height;
    Span span = left.span;
    while (!c_.done() && level() == at) {
      TreeNode op = c_.next();
      Made right = read(tighter(at));
      out.links.push_back({*operator_row(op.type()).op, op.span(), right.expr});
      height = std::max(height, right.height);
      span = span.joined(right.span);
    }
    return builder_.make(span, std::move(out), height);
  }

  Made pipe(Made left) {
    ast::Pipe out{left.expr, {}, {}};
    uint32_t height = left.height;
    Span span = left.span;
    while (!c_.done() && level() == Level::Pipe) {
      c_.next();
      Made stage = read(tighter(Level::Pipe));
      check_stage(stage);
      out.stages.push_back(stage.expr);
      out.whole.push_back(stage.span != stage.expr->span);
      height = std::max(height, stage.height);
      span = span.joined(stage.span);
    }
    return builder_.make(span, std::move(out), height);
  }

  void check_stage(const Made& stage) {
    const ast::Expr& e = *stage.expr;
    bool parenthesised = stage.span != e.span;
    if (e.as<ast::Name>() || e.as<ast::Call>() || e.as<ast::Member>() || e.as<ast::Index>() || e.as<ast::Transform>() ||
        parenthesised)
      return;
    fail(Kind::Syntax, stage.span, "right of `|>` stands a function or a call of one",
         e.as<ast::Chain>() ? "put the whole pipe into parentheses to go on computing: `(x |> f) + 1`"
                            : "write `x |> f`, `x |> f(a)` or `x |> (y => …)`");
  }

  Made range(Made low) {
    c_.next();
    Made high = read(tighter(Level::Range));
    if (!c_.done() && level() == Level::Range)
      fail(Kind::Syntax, c_.peek().span(), "a range has two ends: `a..b`",
           "steps are written `x[a:b:step]` or `arange(a, b, step)`");
    return builder_.make(low.span.joined(high.span), ast::Range{low.expr, high.expr},
                         std::max(low.height, high.height));
  }

  Made comparison(Made left) {
    TreeNode op = c_.next();
    Made right = read(tighter(Level::Comparison));
    if (!c_.done() && level() == Level::Comparison) chained(left, op, right);
    ast::Chain out{left.expr, {{*operator_row(op.type()).op, op.span(), right.expr}}};
    return builder_.make(left.span.joined(right.span), std::move(out), std::max(left.height, right.height));
  }

  std::string_view text(Span span) const {
    return std::string_view(builder_.list_.source->text()).substr(span.begin, span.end - span.begin);
  }

  /// `0 <= i < n`, and `x > 1 & x < 3`, where `&` took `1 & x`.
  [[noreturn]] void chained(const Made& left, TreeNode op, const Made& middle) {
    TreeNode second = c_.next();
    Made last = read(tighter(Level::Comparison));
    Span whole = left.span.joined(last.span);
    auto* bits = middle.expr->as<ast::Chain>();
    bool is_bits = bits && middle.span == middle.expr->span &&
                   (bits->links[0].op == ast::BinaryOp::BitAnd || bits->links[0].op == ast::BinaryOp::BitOr);
    if (is_bits)
      fail(Kind::Syntax, whole, fmt::format("`{}` binds tighter than comparison", ast::spelling(bits->links[0].op)),
           fmt::format("put each comparison into parentheses: `(x > 1) {} (x < 3)`", ast::spelling(bits->links[0].op)));
    constexpr uint32_t longest_shown = 60;
    std::string help = "join two comparisons by `and`: `0 <= i and i < n`";
    if (whole.end - whole.begin < longest_shown)
      help = fmt::format("write `{} {} {} and {} {} {}`", text(left.span), op.text(), text(middle.span),
                         text(middle.span), second.text(), text(last.span));
    fail(Kind::Syntax, whole, "comparisons are not chained", std::move(help));
  }

  /// An operand with the prefix operators before it.
  Made prefixed(Level loosest) {
    if (!operand_starts_with(NOT)) return power();
    Cursor inside(c_.peek());
    std::vector<Span> nots;
    while (inside.at(NOT)) nots.push_back(inside.next().span());
    if (loosest > Level::Not)
      fail(Kind::Syntax, nots[0], "`not` binds less than the operator before it",
           "put it into parentheses: `a == (not b)`");
    Made value = power();
    while (!c_.done() && level() > Level::Not) value = links(std::move(value), level());
    for (size_t i = nots.size(); i-- > 0;) value = unary({ast::UnaryOp::Not, nots[i]}, std::move(value));
    return value;
  }

  bool operand_starts_with(TokenType type) const { return Cursor(c_.peek()).at(type); }

  Made unary(Sign sign, Made operand) {
    return builder_.make(sign.span.joined(operand.span), ast::Unary{sign.op, sign.span, operand.expr}, operand.height);
  }

  Made power() {
    std::vector<Factor> factors{factor({})};
    while (!c_.done() && c_.peek().type() == POWER) {
      Span power = c_.next().span();
      if (operand_starts_with(NOT))
        fail(Kind::Syntax, c_.peek().span(), "`not` binds less than `**`", "put it into parentheses");
      factors.push_back(factor(power));
    }
    Made value = signed_value(factors.back().signs, factors.back().base);
    for (size_t i = factors.size() - 1; i-- > 0;) {
      const Made& base = factors[i].base;
      ast::Chain chain{base.expr, {{ast::BinaryOp::Power, factors[i + 1].power, value.expr}}};
      value = builder_.make(base.span.joined(value.span), std::move(chain), std::max(base.height, value.height));
      value = signed_value(factors[i].signs, std::move(value));
    }
    return value;
  }

  Made signed_value(const std::vector<Sign>& signs, Made value) {
    for (size_t i = signs.size(); i-- > 0;) value = unary(signs[i], std::move(value));
    return value;
  }

  Factor factor(Span power) {
    Factor out{power, {}, {}};
    Cursor inside(c_.next());
    while (inside.accept(NOT)) {
    }
    for (; inside.at(MINUS) || inside.at(PLUS) || inside.at(TILDE); inside.next()) {
      TokenType type = inside.peek().type();
      ast::UnaryOp op = type == MINUS ? ast::UnaryOp::Negate : type == PLUS ? ast::UnaryOp::Plus : ast::UnaryOp::BitNot;
      out.signs.push_back({op, inside.peek().span()});
    }
    if (inside.at(NOT))
      fail(Kind::Syntax, inside.peek().span(), "`not` binds less than a sign", "put it into parentheses: `-(not x)`");
    bool negative = sign_belongs_to_number(out.signs, inside);
    out.base = builder_.operand(inside, negative);
    if (negative) {
      out.base = joined(out.base, out.signs.back().span);
      out.signs.pop_back();
    }
    return out;
  }

  /// A minus directly before a number is part of it, unless `**` or a call, index or member binds tighter.
  bool sign_belongs_to_number(const std::vector<Sign>& signs, Cursor inside) const {
    if (signs.empty() || signs.back().op != ast::UnaryOp::Negate) return false;
    if (!inside.at(INT) && !inside.at(FLOAT)) return false;
    inside.next();
    return inside.done() && (c_.done() || c_.peek().type() != POWER);
  }

  static Made joined(const Made& number, Span sign) {
    ast::Expr with_sign = *number.expr;
    with_sign.span = sign.joined(number.span);
    return {std::make_shared<const ast::Expr>(std::move(with_sign)), number.height, sign.joined(number.span)};
  }

  AstBuilder& builder_;
  Cursor c_;
};

Made AstBuilder::operation(TreeNode node) { return OperationReader(*this, node).read(Level::Pipe); }

}  // namespace tercet
