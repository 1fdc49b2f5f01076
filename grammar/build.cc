#include "grammar/build.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "grammar/build_parts.h"

namespace rekey {
namespace {

using ast::Expr;
using ast::Statement;
using ast::Target;

class Builder : public PartBuilder {
 public:
  using PartBuilder::PartBuilder;

  ast::File File(const Node& root) {
    ast::File file;
    for (const auto& child : root.children) {
      file.statements.push_back(BuildStatement(*child));
      if (child->kind == NodeKind::kVersion && file.statements.size() > 1)
        Report(Error("version", "`rekey N` is the first line of a file")
                   .At(SpanOf(*child))
                   .Help("move it to the top"));
    }
    return file;
  }

  // Takes the comments out of the nodes, so that nothing else needs to look for them.
  void TakeComments(Node* node, std::vector<ast::Comment>* comments) const;

 private:
  // --- Clauses ------------------------------------------------------------------------------

  ast::Range Range(const Node& node) {
    return {BuildExpr(*node.children[0]), BuildExpr(*node.children[1]->children[0])};
  }
  ast::Op Op(const Node& node);
  ast::By By(const Node& node);
  ast::For For(const Node& node);
  ast::TensorType Type(const Node& node);
  std::vector<ast::Op> Ops(const Node& node);
  void Clauses(const Node& node, std::vector<ast::By>* by, std::optional<Expr>* guard);
  std::optional<Expr> Guard(const Node& node);
  Target ArrowTarget(const Node& node) {
    return BuildTarget(*node.Find(NodeKind::kArrow)->children[0]);
  }
  std::optional<ast::For> OptionalFor(const Node& node) {
    const Node* loop = node.Find(NodeKind::kFor);
    return loop ? std::optional(For(*loop)) : std::nullopt;
  }
  std::optional<Expr> OptionalValue(const Node& node) {
    const Node* value = node.Find(NodeKind::kValue);
    return value ? std::optional(BuildExpr(*value->children[0])) : std::nullopt;
  }
  std::optional<ast::TensorType> OptionalType(const Node& node) {
    const Node* type = node.Find(NodeKind::kType);
    return type ? std::optional(Type(*type)) : std::nullopt;
  }

  // --- Statements ---------------------------------------------------------------------------

  Statement BuildStatement(const Node& node);
  ast::Version Version(const Node& node);
  ast::Param Param(const Node& node);
  ast::Table Table(const Node& node);
  ast::Strip Strip(const Node& node);
  ast::Rule Rule(const Node& node, ast::Verb verb);
  ast::Scope Scope(const Node& node);
  ast::Else Else(const Node& node);
  ast::Fill Fill(const Node& node);
  ast::Expect Expect(const Node& node);
  ast::Test Test(const Node& node);
  ast::Arrow TestArrow(const Node& node);

  bool OnlyBlanksBefore(uint32_t offset) const;
};

// --- Clauses ------------------------------------------------------------------------------------

ast::Op Builder::Op(const Node& node) {
  ast::Op op;
  op.span = SpanOf(node);
  op.name = Text(*node.children[0]);
  op.name_span = SpanOf(*node.children[0]);
  op.has_parens = node.children.size() > 1;
  if (!op.has_parens) return op;
  for (const auto& child : node.children[1]->children) {
    ast::Arg arg;
    arg.span = SpanOf(*child);
    size_t value = 0;
    if (child->children[0]->kind == NodeKind::kArgName) {
      arg.name = Text(*child->children[0]->children[0]);
      value = 1;
    }
    arg.value = BuildExpr(*child->children[value]);
    if (const Node* end = child->Find(NodeKind::kRangeEnd))
      arg.range_end = BuildExpr(*end->children[0]);
    op.args.push_back(std::move(arg));
  }
  return op;
}

std::vector<ast::Op> Builder::Ops(const Node& node) {
  std::vector<ast::Op> ops;
  for (const auto& child : node.children)
    if (child->kind == NodeKind::kOp) ops.push_back(Op(*child));
  return ops;
}

ast::By Builder::By(const Node& node) {
  ast::By by;
  by.span = SpanOf(node);
  by.hole = Text(*node.children[0]);
  if (const Node* range = node.Find(NodeKind::kRange)) by.range = Range(*range);
  return by;
}

std::optional<Expr> Builder::Guard(const Node& node) {
  const Node* guard = node.Find(NodeKind::kGuard);
  return guard ? std::optional(BuildExpr(*guard->children[0])) : std::nullopt;
}

// `by` and `if` come in any order, each once.
void Builder::Clauses(const Node& node, std::vector<ast::By>* by, std::optional<Expr>* guard) {
  const Node* first[2] = {nullptr, nullptr};
  for (const auto& child : node.children) {
    if (child->kind != NodeKind::kBy && child->kind != NodeKind::kGuard) continue;
    const bool is_by = child->kind == NodeKind::kBy;
    const Node& content = *child->children[0];
    if (const Node*& earlier = first[is_by]; earlier == nullptr) {
      earlier = &content;
    } else {
      Report(Error("clause-twice", is_by ? "`by` is written twice" : "`if` is written twice")
                 .At(SpanOf(content))
                 .Also(SpanOf(*earlier), "the first")
                 .Help(is_by ? "write both holes behind one `by`: `by a, b`"
                             : "join the conditions with `and`"));
    }
    if (!is_by) *guard = BuildExpr(content);
    if (is_by)
      for (const auto& item : child->children) by->push_back(By(*item));
  }
}

ast::For Builder::For(const Node& node) {
  ast::For loop;
  loop.span = Join(SpanOf(*node.children.front()), SpanOf(*node.children.back()));
  if (const Node* name = node.Find(NodeKind::kName)) {
    loop.name = Declared(*name);
    loop.range = Range(*node.Find(NodeKind::kRange));
  } else {
    loop.pattern = BuildPattern(*node.Find(NodeKind::kPattern));
  }
  return loop;
}

ast::TensorType Builder::Type(const Node& node) {
  ast::TensorType type;
  type.span = SpanOf(node);
  type.dtype = Text(*node.children[0]);
  if (const Node* dims = node.Find(NodeKind::kDims)) type.dims = Exprs(*dims);
  return type;
}

// --- Statements ---------------------------------------------------------------------------------

ast::Version Builder::Version(const Node& node) {
  ast::Version version;
  version.number = BuildExpr(*node.children[0]).integer;
  return version;
}

ast::Param Builder::Param(const Node& node) {
  ast::Param param;
  param.name = Declared(*node.children[0]);
  param.name_span = SpanOf(*node.children[0]);
  if (const Node* type = node.Find(NodeKind::kParamType)) param.type = Text(*type);
  param.value = OptionalValue(node);
  if (param.type.empty() && !param.value)
    Report(Error("param-type", "param `" + param.name + "` has neither a type nor a value")
               .At(param.name_span)
               .Help("write `param " + param.name + ": int`, or give it a value"));
  return param;
}

ast::Table Builder::Table(const Node& node) {
  ast::Table table;
  table.name = Declared(*node.children[0]);
  table.name_span = SpanOf(*node.children[0]);
  if (table.name == "int" || table.name == "any")
    Report(Error("reserved-name", "a table cannot be called `" + table.name + "`")
               .At(table.name_span, "`{x:" + table.name + "}` means something else")
               .Help("choose another name"));
  for (size_t i = 1; i < node.children.size(); ++i) {
    const Node& child = *node.children[i];
    ast::Table::Row row{SpanOf(child), Str(*child.children[0]), BuildTarget(*child.children[1])};
    const auto same = std::find_if(table.rows.begin(), table.rows.end(),
                                   [&](const auto& other) { return other.key == row.key; });
    if (same != table.rows.end())
      Report(Error("duplicate-row", "`" + row.key + "` stands twice in table `" + table.name + "`")
                 .At(SpanOf(*child.children[0]))
                 .Also(same->span, "the first"));
    for (const Target::Part& part : row.value.parts)
      if (part.kind == Target::Part::Kind::kGroup)
        Report(Error("group-in-table", "a row of a table has no groups")
                   .At(part.span)
                   .Help("a value is a text, or `{...}` over params"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ast::Strip Builder::Strip(const Node& node) {
  ast::Strip strip;
  strip.maybe = node.Has(NodeKind::kMaybe);
  if (const Node* mode = node.Find(NodeKind::kMode))
    strip.mode = mode->Text() == "all"        ? ast::Strip::Mode::kAll
                 : mode->Text() == "anywhere" ? ast::Strip::Mode::kAnywhere
                                              : ast::Strip::Mode::kSuffix;
  for (const auto& child : node.children) {
    if (child->kind != NodeKind::kStr) continue;
    strip.texts.push_back({SpanOf(*child), Str(*child)});
    if (strip.texts.back().text.empty())
      Report(Error("empty-text", "there is nothing to strip in an empty text").At(SpanOf(*child)));
  }
  return strip;
}

ast::Rule Builder::Rule(const Node& node, ast::Verb verb) {
  ast::Rule rule;
  rule.verb = verb;
  rule.maybe = node.Has(NodeKind::kMaybe);
  const Node* sources = node.Find(NodeKind::kSources);
  rule.source_list = sources != nullptr;
  if (sources == nullptr) sources = node.Find(NodeKind::kPattern);
  rule.sources_span = SpanOf(*sources);
  if (rule.source_list)
    for (const auto& child : sources->children) rule.sources.push_back(BuildPattern(*child));
  else
    rule.sources.push_back(BuildPattern(*sources));
  if (const Node* arrow = node.Find(NodeKind::kArrow)) {
    const Node& targets = *arrow->children[0];
    rule.target_list = targets.kind == NodeKind::kTargets;
    rule.targets_span = SpanOf(targets);
    if (rule.target_list)
      for (const auto& child : targets.children) rule.targets.push_back(BuildTarget(*child));
    else
      rule.targets.push_back(BuildTarget(targets));
  }
  if (const Node* same = node.Find(NodeKind::kSameAs))
    rule.same_as = BuildTarget(*same->children[0]);
  Clauses(node, &rule.by, &rule.guard);
  rule.ops = Ops(node);
  return rule;
}

ast::Scope Builder::Scope(const Node& node) {
  ast::Scope scope;
  scope.maybe = node.Has(NodeKind::kMaybe);
  for (const auto& child : node.children) {
    switch (child->kind) {
      case NodeKind::kMaybe:
        break;
      case NodeKind::kPattern:
        scope.pattern = BuildPattern(*child);
        break;
      case NodeKind::kArrow:
        scope.target = BuildTarget(*child->children[0]);
        break;
      case NodeKind::kGuard:
        scope.guard = BuildExpr(*child->children[0]);
        break;
      default:
        scope.body.push_back(BuildStatement(*child));
    }
  }
  return scope;
}

ast::Else Builder::Else(const Node& node) {
  const std::string_view mode = node.children[0]->Text();
  ast::Else rest;
  rest.mode = mode == "pass"   ? ast::Else::Mode::kPass
              : mode == "drop" ? ast::Else::Mode::kDrop
                               : ast::Else::Mode::kError;
  rest.why = OptionalStr(node);
  return rest;
}

ast::Fill Builder::Fill(const Node& node) {
  ast::Fill fill;
  fill.maybe = node.Has(NodeKind::kMaybe);
  fill.target = BuildTarget(*node.Find(NodeKind::kTarget));
  fill.value = *OptionalValue(node);
  const Node& dtype = *node.Find(NodeKind::kName);
  fill.dtype = Text(dtype);
  fill.dtype_span = SpanOf(dtype);
  fill.loop = OptionalFor(node);
  fill.ops = Ops(node);
  return fill;
}

ast::Expect Builder::Expect(const Node& node) {
  using Kind = ast::Expect::Kind;
  ast::Expect expect;
  const Node& first = *node.children[0];
  switch (first.kind) {
    case NodeKind::kExpectCount:
      expect.kind = Kind::kCount;
      expect.count = BuildExpr(*first.children[0]);
      return expect;
    case NodeKind::kExpectError:
      expect.kind = Kind::kError;
      expect.message = OptionalStr(first);
      return expect;
    case NodeKind::kExpectNo:
      expect.kind = Kind::kNo;
      expect.pattern = BuildPattern(*first.children[0]);
      return expect;
    case NodeKind::kPattern:
      expect.pattern = BuildPattern(first);
      break;
    default:
      expect.target = BuildTarget(first);
  }
  expect.kind = Kind::kTensor;
  expect.type = OptionalType(node);
  expect.value = OptionalValue(node);
  expect.loop = OptionalFor(node);
  return expect;
}

ast::Arrow Builder::TestArrow(const Node& node) {
  using Outcome = ast::Arrow::Outcome;
  ast::Arrow arrow;
  arrow.key = BuildTarget(*node.children[0]);
  const Node& outcome = *node.children[1];
  if (outcome.kind == NodeKind::kTarget) {
    arrow.target = BuildTarget(outcome);
  } else {
    arrow.outcome = outcome.Text() == "dropped" ? Outcome::kDropped
                    : outcome.Text() == "kept"  ? Outcome::kKept
                                                : Outcome::kPassed;
  }
  return arrow;
}

ast::Test Builder::Test(const Node& node) {
  ast::Test test;
  test.name = Str(*node.children[0]);
  for (size_t i = 1; i < node.children.size(); ++i) {
    const Node& child = *node.children[i];
    ast::TestLine line{SpanOf(child), {}};
    if (child.kind == NodeKind::kWith) {
      line.node =
          ast::With{Text(*child.children[0]), SpanOf(*child.children[0]), *OptionalValue(child)};
    } else if (child.kind == NodeKind::kGiven) {
      line.node = ast::Given{BuildTarget(*child.children[0]), OptionalType(child),
                             OptionalValue(child), OptionalFor(child)};
    } else if (child.kind == NodeKind::kExpect) {
      line.node = Expect(child);
    } else {
      line.node = TestArrow(child);
    }
    test.lines.push_back(std::move(line));
  }
  return test;
}

Statement Builder::BuildStatement(const Node& node) {
  Statement statement;
  statement.span = SpanOf(node);
  const bool maybe = node.Has(NodeKind::kMaybe);
  switch (node.kind) {
    case NodeKind::kVersion:
      statement.node = Version(node);
      break;
    case NodeKind::kStrict:
      statement.node = ast::Strict{};
      break;
    case NodeKind::kInclude:
      statement.node = ast::Include{Str(*node.children[0]), SpanOf(*node.children[0])};
      break;
    case NodeKind::kRequire:
      statement.node = ast::Require{
          BuildExpr(*node.children[0]),
          node.children.size() > 1 ? std::optional(Str(*node.children[1])) : std::nullopt};
      break;
    case NodeKind::kParam:
      statement.node = Param(node);
      break;
    case NodeKind::kLet:
      statement.node =
          ast::Let{Declared(*node.children[0]), SpanOf(*node.children[0]), *OptionalValue(node)};
      break;
    case NodeKind::kTable:
      statement.node = Table(node);
      break;
    case NodeKind::kSource:
      statement.node =
          ast::SourceLine{BuildPattern(*node.children[0]), ArrowTarget(node), Guard(node)};
      break;
    case NodeKind::kSink:
      statement.node = ast::SinkLine{BuildPattern(*node.children[0]), ArrowTarget(node)};
      break;
    case NodeKind::kSelect: {
      const Node& path = *node.children[0];
      const bool all = path.kind == NodeKind::kText && path.Text() == "all";
      statement.node = ast::Select{all, all ? "" : Str(path)};
      break;
    }
    case NodeKind::kStrip:
      statement.node = Strip(node);
      break;
    case NodeKind::kRename:
      statement.node =
          ast::Rename{maybe, BuildPattern(*node.Find(NodeKind::kPattern)), ArrowTarget(node)};
      break;
    case NodeKind::kPrefix:
    case NodeKind::kSuffix:
      statement.node = ast::Affix{node.kind == NodeKind::kSuffix, BuildTarget(*node.children[0])};
      break;
    case NodeKind::kMap:
      statement.node = Rule(node, ast::Verb::kMap);
      break;
    case NodeKind::kKeep:
      statement.node = Rule(node, ast::Verb::kKeep);
      break;
    case NodeKind::kDrop:
      statement.node = Rule(node, ast::Verb::kDrop);
      break;
    case NodeKind::kMerge:
      statement.node = Rule(node, ast::Verb::kMerge);
      break;
    case NodeKind::kSplit:
      statement.node = Rule(node, ast::Verb::kSplit);
      break;
    case NodeKind::kScope:
      statement.node = Scope(node);
      break;
    case NodeKind::kElse:
      statement.node = Else(node);
      break;
    case NodeKind::kThen:
      statement.node = ast::Then{OptionalStr(node)};
      break;
    case NodeKind::kFill:
      statement.node = Fill(node);
      break;
    case NodeKind::kCopy:
      statement.node =
          ast::Copy{maybe, BuildPattern(*node.Find(NodeKind::kPattern)), ArrowTarget(node)};
      break;
    case NodeKind::kTie: {
      const size_t first = maybe ? 1 : 0;
      statement.node = ast::Tie{maybe, BuildTarget(*node.children[first]),
                                BuildTarget(*node.children[first + 1])};
      break;
    }
    case NodeKind::kExpect:
      statement.node = Expect(node);
      break;
    case NodeKind::kTest:
      statement.node = Test(node);
      break;
    default:
      assert(false && "a node that is no statement");
  }
  return statement;
}

// --- Comments -----------------------------------------------------------------------------------

bool Builder::OnlyBlanksBefore(uint32_t offset) const {
  const Location at = source().Locate(offset);
  std::string_view before = source().Line(at.line).substr(0, at.column - 1);
  if (before.substr(0, 3) == "\xef\xbb\xbf") before.remove_prefix(3);  // byte order mark
  return before.find_first_not_of(" \t") == std::string_view::npos;
}

void Builder::TakeComments(Node* node, std::vector<ast::Comment>* comments) const {
  for (auto& child : node->children) {
    if (child->kind != NodeKind::kComment) {
      TakeComments(child.get(), comments);
      continue;
    }
    ast::Comment comment;
    comment.span = SpanOf(*child);
    const std::string_view text = comment.span.Text();
    comment.span.end =
        comment.span.begin + static_cast<uint32_t>(text.find_last_not_of(" \t\r") + 1);
    comment.own_line = OnlyBlanksBefore(comment.span.begin);
    comments->push_back(comment);
    child.reset();
  }
  std::erase(node->children, nullptr);
}

}  // namespace

ast::File BuildFile(Node* root, const Source& source, Diagnostics* diagnostics) {
  Builder builder(source, diagnostics);
  std::vector<ast::Comment> comments;
  builder.TakeComments(root, &comments);
  // What is looked at before it is matched gives its comments twice, and out of order.
  const auto before = [](const ast::Comment& a, const ast::Comment& b) {
    return a.span.begin < b.span.begin;
  };
  std::sort(comments.begin(), comments.end(), before);
  const auto same = [](const ast::Comment& a, const ast::Comment& b) {
    return a.span.begin == b.span.begin;
  };
  comments.erase(std::unique(comments.begin(), comments.end(), same), comments.end());
  ast::File file = builder.File(*root);
  file.comments = std::move(comments);
  return file;
}

ast::Pattern BuildPattern(const Node& node, const Source& source, Diagnostics* diagnostics) {
  return PartBuilder(source, diagnostics).BuildPattern(node);
}

ast::Expr BuildExpr(const Node& node, const Source& source, Diagnostics* diagnostics) {
  return PartBuilder(source, diagnostics).BuildExpr(node);
}

}  // namespace rekey
