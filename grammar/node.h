// The parse, before it becomes the tree: what rule matched, and where.
//
// parser.cc makes Nodes while PEGTL matches; build.cc turns them into ast.h. They are the seam that
// keeps PEGTL in one translation unit: this header names no PEGTL type. Nobody else uses it.
//
// The tree of `map a -> b | cast(f16)`:
//
//   map: pattern(text) arrow(target(text)) op(name args(arg(name)))
#ifndef REKEY_GRAMMAR_NODE_H_
#define REKEY_GRAMMAR_NODE_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace rekey {

// Named after the rules of the grammar (grammar.h).
// clang-format off
enum class NodeKind {
  kNone,  // not kept
  // Words and texts.
  kComment, kMaybe, kMode, kName, kText, kEscape, kQuoted, kStr,
  // Patterns and targets.
  kPattern, kRegex, kRegexText, kHole, kHoleName, kTarget, kInterpolation, kPad, kGroup,
  // Expressions.
  kReal, kInteger, kOr, kAnd, kCompare, kNot, kSum, kProduct, kUnary, kMinus, kOperator, kParens,
  kList, kHas, kCall, kArgs, kArg, kArgName, kRangeEnd,
  // Clauses.
  kArrow, kSources, kTargets, kSameAs, kGuard, kBy, kByItem, kRange, kOp, kFor, kType, kDims,
  // Statements.
  kVersion, kStrict, kInclude, kRequire, kParam, kParamType, kLet, kTable, kRow, kSource, kSink,
  kSelect, kStrip, kRename, kPrefix, kSuffix, kMap, kKeep, kDrop, kMerge, kSplit, kScope, kElse,
  kThen, kFill, kCopy, kTie, kExpect, kExpectCount, kExpectError, kExpectNo, kExpectTensor, kValue,
  kTest, kWith, kGiven, kTestArrow, kOutcome,
};
// clang-format on

// Which kind a grammar rule makes; parser.cc specializes it for each rule that is kept.
template <typename Rule>
inline constexpr NodeKind kKindOf = NodeKind::kNone;

struct Node {
  NodeKind kind = NodeKind::kNone;
  const char* begin = nullptr;  // both point into the Source's text
  const char* end = nullptr;
  std::vector<std::unique_ptr<Node>> children;

  std::string_view Text() const { return {begin, static_cast<size_t>(end - begin)}; }

  // The first child of that kind, or null.
  const Node* Find(NodeKind wanted) const {
    for (const auto& child : children)
      if (child->kind == wanted) return child.get();
    return nullptr;
  }
  bool Has(NodeKind wanted) const { return Find(wanted) != nullptr; }

  // What pegtl::parse_tree asks of a node.
  template <typename Rule, typename Input, typename... States>
  void start(const Input& in, States&&...) {
    kind = kKindOf<Rule>;
    begin = in.current();
  }
  template <typename Rule, typename Input, typename... States>
  void success(const Input& in, States&&...) {
    end = in.current();
  }
  template <typename Rule, typename Input, typename... States>
  void failure(const Input&, States&&...) {}
  template <typename... States>
  void emplace_back(std::unique_ptr<Node>&& child, States&&...) {
    children.push_back(std::move(child));
  }
};

}  // namespace rekey

#endif  // REKEY_GRAMMAR_NODE_H_
