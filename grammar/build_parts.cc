#include "grammar/build_parts.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

namespace rekey {

using ast::Expr;
using ast::Pattern;
using ast::Target;

namespace {

// Words that mean something by themselves in an expression.
constexpr std::array<std::string_view, 8> kReserved = {"rank", "dtype", "dim", "has",
                                                       "meta", "and",   "or",  "not"};

// A longer chain of operators is nobody's rule, and whoever reads the tree walks it by recursion.
constexpr int kMaxDepth = 200;

// kText, kEscape: the characters meant.
std::string Unescaped(const Node& node) {
  return std::string(node.Text().substr(node.kind == NodeKind::kEscape ? 1 : 0));
}

// The levels of `expr`, or something above `limit` if there are more.
int Depth(const Expr& expr, int limit) {
  if (limit <= 0) return 1;
  int depth = 0;
  if (expr.target)
    for (const Target::Part& part : expr.target->parts)
      if (part.expr) depth = std::max(depth, Depth(*part.expr, limit - 1));
  for (const Expr& arg : expr.args) depth = std::max(depth, Depth(arg, limit - 1));
  return depth + 1;
}

// Appends literal text, joined to the last part if that is literal too.
template <typename Part>
void AppendText(std::vector<Part>* parts, bool joins, Span span, const std::string& text) {
  if (joins) {
    parts->back().text += text;
    parts->back().span.end = span.end;
    return;
  }
  Part part;
  part.span = span;
  part.text = text;
  parts->push_back(std::move(part));
}

}  // namespace

Span PartBuilder::SpanOf(const Node& node) const {
  const char* text = source_.text().data();
  return {&source_, static_cast<uint32_t>(node.begin - text),
          static_cast<uint32_t>(node.end - text)};
}

std::string PartBuilder::Str(const Node& node) {
  if (node.kind != NodeKind::kStr) return Text(node);
  std::string text;
  for (const auto& part : node.children) text += Unescaped(*part);
  return text;
}

std::optional<std::string> PartBuilder::OptionalStr(const Node& node) {
  const Node* str = node.Find(NodeKind::kStr);
  return str ? std::optional(Str(*str)) : std::nullopt;
}

std::string PartBuilder::Declared(const Node& node) {
  std::string name = Text(node);
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end())
    Report(Error("reserved-name", "`" + name + "` cannot be declared")
               .At(SpanOf(node), "a word of the language")
               .Help("choose another name"));
  return name;
}

// --- Patterns and targets -----------------------------------------------------------------------

Pattern PartBuilder::BuildPattern(const Node& node) {
  Pattern pattern;
  pattern.span = SpanOf(node);
  const Node* parts = &node;
  if (const Node* regex = node.Find(NodeKind::kRegex)) {
    pattern.is_regex = true;
    pattern.regex = Text(*regex->children[0]);
    pattern.regex_span = SpanOf(*regex->children[0]);
    return pattern;
  }
  if (const Node* quoted = node.Find(NodeKind::kQuoted)) {
    pattern.quoted = true;
    parts = quoted;
  }
  for (const auto& part : parts->children) {
    if (part->kind != NodeKind::kHole) {
      const bool joins = !pattern.parts.empty() && !pattern.parts.back().hole;
      AppendText(&pattern.parts, joins, SpanOf(*part), Unescaped(*part));
      continue;
    }
    ast::Hole hole;
    hole.span = SpanOf(*part);
    hole.name = Declared(*part->children[0]);
    for (size_t i = 1; i < part->children.size(); ++i)
      hole.kinds.push_back(Str(*part->children[i]));
    pattern.parts.push_back({hole.span, "", std::move(hole)});
  }
  return pattern;
}

Target PartBuilder::BuildTarget(const Node& node) {
  Target target;
  target.span = SpanOf(node);
  const Node* parts = &node;
  if (const Node* quoted = node.Find(NodeKind::kQuoted)) {
    target.quoted = true;
    parts = quoted;
  }
  using Kind = Target::Part::Kind;
  for (const auto& part : parts->children) {
    if (part->kind == NodeKind::kInterpolation) {
      Target::Part value;
      value.kind = Kind::kExpr;
      value.span = SpanOf(*part);
      value.expr = BuildExpr(*part->children[0]);
      if (part->children.size() > 1) value.pad = part->children[1]->Text()[1] - '0';
      target.parts.push_back(std::move(value));
    } else if (part->kind == NodeKind::kGroup) {
      Target::Part group;
      group.kind = Kind::kGroup;
      group.span = SpanOf(*part);
      group.group = part->Text()[1] - '0';
      target.parts.push_back(std::move(group));
    } else {
      const bool joins = !target.parts.empty() && target.parts.back().kind == Kind::kText;
      AppendText(&target.parts, joins, SpanOf(*part), Unescaped(*part));
    }
  }
  return target;
}

// --- Expressions --------------------------------------------------------------------------------

Expr PartBuilder::Bounded(Expr expr) {
  if (Depth(expr, kMaxDepth) <= kMaxDepth) return expr;
  Report(Error("nesting", "an expression of more than " + std::to_string(kMaxDepth) + " levels")
             .At(expr.span)
             .Help("name parts of it with `let`"));
  Expr stand_in;
  stand_in.span = expr.span;
  return stand_in;
}

Expr PartBuilder::Number(const Node& node) {
  Expr number;
  number.span = SpanOf(node);
  const char* begin = node.begin;
  if (node.kind == NodeKind::kReal) {
    number.kind = Expr::Kind::kReal;
    if (std::from_chars(begin, node.end, number.real).ec == std::errc()) return number;
  } else {
    number.kind = Expr::Kind::kInteger;
    if (std::from_chars(begin, node.end, number.integer).ec == std::errc()) return number;
  }
  Report(Error("number", "the number is out of range")
             .At(number.span)
             .Help("integers have 64 bits, others are floats of 64 bits"));
  return number;
}

Expr PartBuilder::Binary(std::string op, Expr left, Expr right) {
  Expr binary;
  binary.kind = Expr::Kind::kBinary;
  binary.span = Join(left.span, right.span);
  binary.text = std::move(op);
  binary.args.push_back(std::move(left));
  binary.args.push_back(std::move(right));
  return Bounded(std::move(binary));
}

Expr PartBuilder::Prefixed(std::string op, const Node& sign, Expr operand) {
  Expr unary;
  unary.kind = Expr::Kind::kUnary;
  unary.span = Join(SpanOf(sign), operand.span);
  unary.text = std::move(op);
  unary.args.push_back(std::move(operand));
  return Bounded(std::move(unary));
}

// a + b - c, from left to right; with `keyword`, operands only (a and b and c).
Expr PartBuilder::Chain(const Node& node, const char* keyword) {
  Expr left = BuildExpr(*node.children[0]);
  const size_t step = keyword ? 1 : 2;
  for (size_t i = step; i < node.children.size(); i += step) {
    std::string op = keyword ? keyword : Text(*node.children[i - 1]);
    left = Binary(std::move(op), std::move(left), BuildExpr(*node.children[i]));
  }
  return left;
}

// not* a < b: `not` takes in the comparison.
Expr PartBuilder::Compare(const Node& node) {
  size_t first = 0;
  while (node.children[first]->kind == NodeKind::kNot) ++first;
  Expr expr = BuildExpr(*node.children[first]);
  if (first + 2 < node.children.size())
    expr = Binary(Text(*node.children[first + 1]), std::move(expr),
                  BuildExpr(*node.children[first + 2]));
  for (size_t i = first; i-- > 0;) expr = Prefixed("not", *node.children[i], std::move(expr));
  return expr;
}

Expr PartBuilder::Unary(const Node& node) {
  Expr expr = BuildExpr(*node.children.back());
  for (size_t i = node.children.size() - 1; i-- > 0;)
    expr = Prefixed("-", *node.children[i], std::move(expr));
  return expr;
}

std::vector<Expr> PartBuilder::Exprs(const Node& node) {
  std::vector<Expr> exprs;
  for (const auto& child : node.children) exprs.push_back(BuildExpr(*child));
  return exprs;
}

Expr PartBuilder::BuildExpr(const Node& node) {
  Expr expr;
  expr.span = SpanOf(node);
  switch (node.kind) {
    case NodeKind::kReal:
    case NodeKind::kInteger:
      return Number(node);
    case NodeKind::kStr:
      expr.kind = Expr::Kind::kText;
      expr.text = Str(node);
      return expr;
    case NodeKind::kGroup:
      expr.kind = Expr::Kind::kGroup;
      expr.integer = node.Text()[1] - '0';
      return expr;
    case NodeKind::kName:
      expr.kind = Expr::Kind::kName;
      expr.text = Text(node);
      return expr;
    case NodeKind::kCall:
      expr.kind = Expr::Kind::kCall;
      expr.text = Text(*node.children[0]);
      expr.args = Exprs(*node.children[1]);
      return Bounded(std::move(expr));
    case NodeKind::kHas:
      expr.kind = Expr::Kind::kHas;
      expr.text = "has";
      expr.target = std::make_shared<const Target>(BuildTarget(*node.Find(NodeKind::kTarget)));
      return Bounded(std::move(expr));
    case NodeKind::kList:
      expr.kind = Expr::Kind::kList;
      expr.args = Exprs(node);
      return Bounded(std::move(expr));
    case NodeKind::kParens:
      expr = BuildExpr(*node.children[0]);
      expr.parens = true;
      expr.span = SpanOf(node);
      return expr;
    case NodeKind::kOr:
      return Chain(node, "or");
    case NodeKind::kAnd:
      return Chain(node, "and");
    case NodeKind::kSum:
    case NodeKind::kProduct:
      return Chain(node, nullptr);
    case NodeKind::kCompare:
      return Compare(node);
    case NodeKind::kUnary:
      return Unary(node);
    default:
      assert(false && "a node that is no expression");
      return expr;
  }
}

}  // namespace rekey
