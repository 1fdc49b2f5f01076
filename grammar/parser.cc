// The one translation unit that includes PEGTL.
#include "grammar/parser.h"

#include <cstdint>
#include <cstdlib>
#include <tao/pegtl/contrib/analyze.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>
#include <utility>

#include "grammar/build.h"
#include "grammar/grammar.h"
#include "grammar/hints.h"
#include "grammar/messages.h"
#include "grammar/node.h"
#include "grammar/printable.h"

namespace rekey {

// Which rules of the grammar become nodes.
// clang-format off
template <> inline constexpr auto kKindOf<grammar::comment> = NodeKind::kComment;
template <> inline constexpr auto kKindOf<grammar::maybe> = NodeKind::kMaybe;
template <> inline constexpr auto kKindOf<grammar::strip_mode> = NodeKind::kMode;
template <> inline constexpr auto kKindOf<grammar::else_mode> = NodeKind::kMode;
template <> inline constexpr auto kKindOf<grammar::name> = NodeKind::kName;
template <> inline constexpr auto kKindOf<grammar::text> = NodeKind::kText;
template <> inline constexpr auto kKindOf<grammar::key_text> = NodeKind::kText;
template <> inline constexpr auto kKindOf<grammar::plain_text> = NodeKind::kText;
template <> inline constexpr auto kKindOf<grammar::escape> = NodeKind::kEscape;
template <> inline constexpr auto kKindOf<grammar::quoted_pattern> = NodeKind::kQuoted;
template <> inline constexpr auto kKindOf<grammar::quoted_target> = NodeKind::kQuoted;
template <> inline constexpr auto kKindOf<grammar::str> = NodeKind::kStr;
template <> inline constexpr auto kKindOf<grammar::pattern> = NodeKind::kPattern;
template <> inline constexpr auto kKindOf<grammar::regex_pattern> = NodeKind::kPattern;
template <> inline constexpr auto kKindOf<grammar::regex> = NodeKind::kRegex;
template <> inline constexpr auto kKindOf<grammar::regex_text> = NodeKind::kRegexText;
template <> inline constexpr auto kKindOf<grammar::hole> = NodeKind::kHole;
template <> inline constexpr auto kKindOf<grammar::hole_name> = NodeKind::kHoleName;
template <> inline constexpr auto kKindOf<grammar::target> = NodeKind::kTarget;
template <> inline constexpr auto kKindOf<grammar::interpolation> = NodeKind::kInterpolation;
template <> inline constexpr auto kKindOf<grammar::pad> = NodeKind::kPad;
template <> inline constexpr auto kKindOf<grammar::group> = NodeKind::kGroup;
template <> inline constexpr auto kKindOf<grammar::real> = NodeKind::kReal;
template <> inline constexpr auto kKindOf<grammar::integer> = NodeKind::kInteger;
template <> inline constexpr auto kKindOf<grammar::expr> = NodeKind::kOr;
template <> inline constexpr auto kKindOf<grammar::conjunction> = NodeKind::kAnd;
template <> inline constexpr auto kKindOf<grammar::compare> = NodeKind::kCompare;
template <> inline constexpr auto kKindOf<grammar::negation> = NodeKind::kNot;
template <> inline constexpr auto kKindOf<grammar::sum> = NodeKind::kSum;
template <> inline constexpr auto kKindOf<grammar::product> = NodeKind::kProduct;
template <> inline constexpr auto kKindOf<grammar::unary> = NodeKind::kUnary;
template <> inline constexpr auto kKindOf<grammar::minus> = NodeKind::kMinus;
template <> inline constexpr auto kKindOf<grammar::sum_operator> = NodeKind::kOperator;
template <> inline constexpr auto kKindOf<grammar::product_operator> = NodeKind::kOperator;
template <> inline constexpr auto kKindOf<grammar::compare_operator> = NodeKind::kOperator;
template <> inline constexpr auto kKindOf<grammar::parens> = NodeKind::kParens;
template <> inline constexpr auto kKindOf<grammar::list> = NodeKind::kList;
template <> inline constexpr auto kKindOf<grammar::has> = NodeKind::kHas;
template <> inline constexpr auto kKindOf<grammar::call> = NodeKind::kCall;
template <> inline constexpr auto kKindOf<grammar::call_args> = NodeKind::kArgs;
template <> inline constexpr auto kKindOf<grammar::op_args> = NodeKind::kArgs;
template <> inline constexpr auto kKindOf<grammar::arg> = NodeKind::kArg;
template <> inline constexpr auto kKindOf<grammar::arg_name> = NodeKind::kArgName;
template <> inline constexpr auto kKindOf<grammar::range_end> = NodeKind::kRangeEnd;
template <> inline constexpr auto kKindOf<grammar::arrow> = NodeKind::kArrow;
template <> inline constexpr auto kKindOf<grammar::merge_arrow> = NodeKind::kArrow;
template <> inline constexpr auto kKindOf<grammar::split_arrow> = NodeKind::kArrow;
template <> inline constexpr auto kKindOf<grammar::source_list> = NodeKind::kSources;
template <> inline constexpr auto kKindOf<grammar::target_list> = NodeKind::kTargets;
template <> inline constexpr auto kKindOf<grammar::same_as> = NodeKind::kSameAs;
template <> inline constexpr auto kKindOf<grammar::guard> = NodeKind::kGuard;
template <> inline constexpr auto kKindOf<grammar::by> = NodeKind::kBy;
template <> inline constexpr auto kKindOf<grammar::by_item> = NodeKind::kByItem;
template <> inline constexpr auto kKindOf<grammar::range> = NodeKind::kRange;
template <> inline constexpr auto kKindOf<grammar::op_call> = NodeKind::kOp;
template <> inline constexpr auto kKindOf<grammar::for_clause> = NodeKind::kFor;
template <> inline constexpr auto kKindOf<grammar::tensor_type> = NodeKind::kType;
template <> inline constexpr auto kKindOf<grammar::dims> = NodeKind::kDims;
template <> inline constexpr auto kKindOf<grammar::version> = NodeKind::kVersion;
template <> inline constexpr auto kKindOf<grammar::strict> = NodeKind::kStrict;
template <> inline constexpr auto kKindOf<grammar::include> = NodeKind::kInclude;
template <> inline constexpr auto kKindOf<grammar::require> = NodeKind::kRequire;
template <> inline constexpr auto kKindOf<grammar::param> = NodeKind::kParam;
template <> inline constexpr auto kKindOf<grammar::param_type> = NodeKind::kParamType;
template <> inline constexpr auto kKindOf<grammar::param_value> = NodeKind::kValue;
template <> inline constexpr auto kKindOf<grammar::let> = NodeKind::kLet;
template <> inline constexpr auto kKindOf<grammar::let_value> = NodeKind::kValue;
template <> inline constexpr auto kKindOf<grammar::table> = NodeKind::kTable;
template <> inline constexpr auto kKindOf<grammar::row> = NodeKind::kRow;
template <> inline constexpr auto kKindOf<grammar::source> = NodeKind::kSource;
template <> inline constexpr auto kKindOf<grammar::sink> = NodeKind::kSink;
template <> inline constexpr auto kKindOf<grammar::select> = NodeKind::kSelect;
template <> inline constexpr auto kKindOf<grammar::strip> = NodeKind::kStrip;
template <> inline constexpr auto kKindOf<grammar::rename> = NodeKind::kRename;
template <> inline constexpr auto kKindOf<grammar::prefix> = NodeKind::kPrefix;
template <> inline constexpr auto kKindOf<grammar::suffix> = NodeKind::kSuffix;
template <> inline constexpr auto kKindOf<grammar::map> = NodeKind::kMap;
template <> inline constexpr auto kKindOf<grammar::keep> = NodeKind::kKeep;
template <> inline constexpr auto kKindOf<grammar::drop> = NodeKind::kDrop;
template <> inline constexpr auto kKindOf<grammar::merge> = NodeKind::kMerge;
template <> inline constexpr auto kKindOf<grammar::split> = NodeKind::kSplit;
template <> inline constexpr auto kKindOf<grammar::scope> = NodeKind::kScope;
template <> inline constexpr auto kKindOf<grammar::else_statement> = NodeKind::kElse;
template <> inline constexpr auto kKindOf<grammar::then> = NodeKind::kThen;
template <> inline constexpr auto kKindOf<grammar::fill> = NodeKind::kFill;
template <> inline constexpr auto kKindOf<grammar::fill_value> = NodeKind::kValue;
template <> inline constexpr auto kKindOf<grammar::copy> = NodeKind::kCopy;
template <> inline constexpr auto kKindOf<grammar::tie> = NodeKind::kTie;
template <> inline constexpr auto kKindOf<grammar::expect> = NodeKind::kExpect;
template <> inline constexpr auto kKindOf<grammar::expect_count> = NodeKind::kExpectCount;
template <> inline constexpr auto kKindOf<grammar::expect_error> = NodeKind::kExpectError;
template <> inline constexpr auto kKindOf<grammar::expect_no> = NodeKind::kExpectNo;
template <> inline constexpr auto kKindOf<grammar::tensor_value> = NodeKind::kValue;
template <> inline constexpr auto kKindOf<grammar::test> = NodeKind::kTest;
template <> inline constexpr auto kKindOf<grammar::with> = NodeKind::kWith;
template <> inline constexpr auto kKindOf<grammar::given> = NodeKind::kGiven;
template <> inline constexpr auto kKindOf<grammar::test_arrow> = NodeKind::kTestArrow;
template <> inline constexpr auto kKindOf<grammar::outcome> = NodeKind::kOutcome;
// clang-format on

namespace {

namespace pegtl = tao::pegtl;
using Input = pegtl::memory_input<pegtl::tracking_mode::lazy>;

// A level of an expression that holds one operand only is that operand.
constexpr bool Folds(NodeKind kind) {
  switch (kind) {
    case NodeKind::kOr:
    case NodeKind::kAnd:
    case NodeKind::kCompare:
    case NodeKind::kSum:
    case NodeKind::kProduct:
    case NodeKind::kUnary:
    case NodeKind::kCall:
      return true;
    default:
      return false;
  }
}

template <typename Rule>
struct Selector : std::bool_constant<kKindOf<Rule> != NodeKind::kNone> {
  template <typename... States>
  static void transform(std::unique_ptr<Node>& node, States&&...) {
    if constexpr (Folds(kKindOf<Rule>))
      if (node->children.size() == 1) node = std::move(node->children.front());
  }
};

// A recognised mistake: what PEGTL matched as `wrong::…`, already in words.
struct Mistake {
  Diagnostic diagnostic;
};

class Place {
 public:
  explicit Place(const Source& source) : source_(source) {}

  uint32_t Offset(const char* at) const {
    return static_cast<uint32_t>(at - source_.text().data());
  }
  template <typename ActionInput>
  Span Of(const ActionInput& in) const {
    return {&source_, Offset(in.begin()), Offset(in.end())};
  }
  Span Character(const char* at) const { return {&source_, Offset(at), Offset(at) + 1}; }

 private:
  const Source& source_;
};

template <typename Rule>
struct Action : pegtl::nothing<Rule> {};

template <Diagnostic (*kWording)(Span)>
struct Refuse {
  template <typename ActionInput>
  [[noreturn]] static void apply(const ActionInput& in, grammar::Nesting&, const Place& place) {
    throw Mistake{kWording(place.Of(in))};
  }
};

// The last two bytes of the match: the rule takes in the space before `if` and `by`.
Diagnostic LateWord(Span span) {
  span.begin = span.end - 2;
  return LateClause(span);
}

template <>
struct Action<grammar::wrong::statement> : Refuse<UnknownStatement> {};
template <>
struct Action<grammar::wrong::scope_statement> {
  template <typename ActionInput>
  [[noreturn]] static void apply(const ActionInput& in, grammar::Nesting& nesting,
                                 const Place& place) {
    throw Mistake{UnknownScopeStatement(place.Of(in), place.Character(nesting.open.back().at))};
  }
};
template <>
struct Action<grammar::wrong::test_statement> : Refuse<UnknownTestLine> {};
template <>
struct Action<grammar::wrong::bare_text> : Refuse<BareStripText> {};
template <>
struct Action<grammar::wrong::long_group> : Refuse<LongGroup> {};
template <>
struct Action<grammar::wrong::escape> : Refuse<UnknownEscape> {};
template <>
struct Action<grammar::wrong::late_guard> : Refuse<LateWord> {};
template <>
struct Action<grammar::wrong::late_by> : Refuse<LateWord> {};
template <>
struct Action<grammar::wrong::target_list> : Refuse<TargetList> {};

// Offsets of what is open at an error. An open block is worth a label only where the text ends.
std::vector<uint32_t> OpenAt(const grammar::Nesting& nesting, const Place& place, bool at_end) {
  std::vector<uint32_t> open;
  for (const grammar::Nesting::Open& bracket : nesting.open)
    if (at_end || bracket.lines != grammar::Lines::kBlock)
      open.push_back(place.Offset(bracket.at));
    else
      open.clear();
  return open;
}

// The nodes of `Rule`, or null and a diagnostic.
template <typename Rule>
std::unique_ptr<Node> Match(const Source& source, size_t begin, Diagnostics* diagnostics) {
  const std::string& text = source.text();
  Input in(text.data() + begin, text.data() + text.size(), "");
  grammar::Nesting nesting;
  const Place place(source);
  try {
    auto root = pegtl::parse_tree::parse<Rule, Node, Selector, Action, grammar::control>(
        in, nesting, place);
    if (root != nullptr) return root;
    diagnostics->push_back(SyntaxError(source, place.Offset(in.current()), "unexpected text", {}));
  } catch (const pegtl::parse_error& error) {
    const auto offset = static_cast<uint32_t>(begin + error.positions().front().byte);
    diagnostics->push_back(SyntaxError(source, offset, error.message(),
                                       OpenAt(nesting, place, offset >= text.size())));
  } catch (const Mistake& mistake) {
    diagnostics->push_back(mistake.diagnostic);
  } catch (const grammar::TooDeep& deep) {
    const uint32_t at = place.Offset(deep.at);
    diagnostics->push_back(
        Error("nesting", "brackets and blocks stand more than " +
                             std::to_string(grammar::kMaxNesting) + " deep")
            .At({&source, at, at + 1}, "one too many")
            .Help("name parts of it with `let`, or write the scopes' texts into the rules"));
  }
  return nullptr;
}

constexpr size_t kMaxSize = 16 << 20;
constexpr int64_t kVersion = 1;

// What makes a text unfit to be parsed at all.
bool Readable(const Source& source, Diagnostics* diagnostics) {
  const std::string& text = source.text();
  if (text.size() > kMaxSize) {
    diagnostics->push_back(
        Error("rule-file-size", "`" + source.name() + "` has " + std::to_string(text.size()) +
                                    " bytes, a rule file at most " + std::to_string(kMaxSize))
            .Help("is this a checkpoint? The rule file comes before the checkpoint"));
    return false;
  }
  const size_t valid = ValidUtf8(text);
  if (valid == text.size()) return true;
  const auto at = static_cast<uint32_t>(valid);
  diagnostics->push_back(
      Error("not-utf8", "`" + source.name() + "` is not UTF-8: byte " + std::to_string(valid) +
                            " (counted from 0) is " + "0" +
                            FirstGlyph(text.substr(valid, 1)).shown.substr(1))
          .At({&source, at, at + 1}, "not UTF-8")
          .Help(
              "save the rule file as UTF-8; if it is a checkpoint, it comes after the rule file"));
  return false;
}

size_t SkipByteOrderMark(const Source& source) {
  return source.text().rfind("\xef\xbb\xbf", 0) == 0 ? 3 : 0;
}

// `rekey N` is read before anything else, so that a newer file is not met with syntax errors.
bool KnownVersion(const Source& source, Diagnostics* diagnostics) {
  const std::string& text = source.text();
  Input in(text.data() + SkipByteOrderMark(source), text.data() + text.size(), "");
  grammar::Nesting nesting;
  const Place place(source);
  if (!pegtl::parse<grammar::version_line>(in, nesting)) return true;
  const uint32_t end = place.Offset(in.current());
  uint32_t begin = end;
  while (text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  const Span number{&source, begin, end};
  const int64_t version = std::strtoll(std::string(number.Text()).c_str(), nullptr, 10);
  if (version == kVersion) return true;
  if (version == 0) {
    diagnostics->push_back(Error("version", "there is no version 0 of the language")
                               .At(number)
                               .Help("write `rekey 1`"));
    return false;
  }
  diagnostics->push_back(
      Error("version", "this file needs a newer rekey")
          .At(number, "this rekey reads version " + std::to_string(kVersion) + " of the language")
          .Help("install a rekey that reads version " + std::string(number.Text())));
  return false;
}

}  // namespace

ParseResult Parse(std::shared_ptr<const Source> source) {
  ParseResult result;
  if (Readable(*source, &result.diagnostics) && KnownVersion(*source, &result.diagnostics)) {
    auto root = Match<grammar::file>(*source, SkipByteOrderMark(*source), &result.diagnostics);
    if (root != nullptr) result.file = BuildFile(root.get(), *source, &result.diagnostics);
  }
  if (HasErrors(result.diagnostics)) result.file = {};
  result.file.source = std::move(source);  // the diagnostics point into it
  return result;
}

ParsePatternResult ParsePattern(std::shared_ptr<const Source> source) {
  ParsePatternResult result;
  if (!Readable(*source, &result.diagnostics)) return result;
  if (auto root = Match<grammar::only_pattern>(*source, 0, &result.diagnostics))
    result.pattern = BuildPattern(*root->children.front(), *source, &result.diagnostics);
  return result;
}

ParseExprResult ParseExpr(std::shared_ptr<const Source> source) {
  ParseExprResult result;
  if (!Readable(*source, &result.diagnostics)) return result;
  if (auto root = Match<grammar::only_expr>(*source, 0, &result.diagnostics))
    result.expr = BuildExpr(*root->children.front(), *source, &result.diagnostics);
  return result;
}

size_t AnalyzeGrammar() {
  return pegtl::analyze<grammar::file>() + pegtl::analyze<grammar::only_pattern>() +
         pegtl::analyze<grammar::only_expr>() + pegtl::analyze<grammar::version_line>();
}

}  // namespace rekey
