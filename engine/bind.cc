#include "engine/bind.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/arithmetic.h"
#include "engine/static_type.h"
#include "grammar/parser.h"
#include "grammar/suggest.h"

namespace rekey {

using ast::Expr;

namespace {

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

bool IsComparison(std::string_view op) { return op.find_first_of("=<>") != std::string::npos; }
bool IsLogic(std::string_view op) { return op == "and" || op == "or" || op == "not"; }

void HelpNearest(Diagnostic* error, std::string_view word,
                 const std::vector<std::string_view>& candidates) {
  for (const std::string_view near : Nearest(word, candidates, 1))
    error->Help("did you mean " + Quoted(near) + "?");
}

}  // namespace

Code ConstantCode(Value value, Span span) {
  Code code;
  code.span = span;
  code.value = std::move(value);
  return code;
}

const Code* FindCode(const Code& code, Code::Kind kind) {
  if (code.kind == kind) return &code;
  for (const Code& arg : code.args)
    if (const Code* found = FindCode(arg, kind)) return found;
  if (code.target)
    for (const KeyTarget::Part& part : code.target->parts)
      if (part.code)
        if (const Code* found = FindCode(*part.code, kind)) return found;
  return nullptr;
}

Code ReportedCode(Span span) {
  Code code;
  code.kind = Code::Kind::kMissing;
  code.span = span;
  return code;
}

// Reports, and gives Code that no check trips over again.
Code Binder::Broken(Diagnostic error) {
  Code code = ReportedCode(error.primary.span);
  diagnostics_->push_back(std::move(error));
  return code;
}

Code Binder::Fold(Code code, bool lazy) {
  const bool constant = std::all_of(code.args.begin(), code.args.end(),
                                    [](const Code& arg) { return arg.IsConstant(); });
  if (!constant) return code;
  Result<Value> value = code.Evaluate(Env());
  if (value.ok()) return ConstantCode(std::move(*value), code.span);
  return lazy ? code : Broken(std::move(value).error());
}

// --- Names --------------------------------------------------------------------------------------

Code Binder::VariableCode(int index, Span span, const BindPlace& place) {
  const Variable& variable = (*place.variables)[static_cast<size_t>(index)];
  if (place.used) (*place.used)[static_cast<size_t>(index)] = true;
  Code code;
  code.kind = Code::Kind::kVariable;
  code.span = span;
  code.index = index;
  code.text = variable.name;
  code.variable = variable.kind;
  code.decimal = variable.min_digits > 0;
  return code;
}

Code Binder::UnknownName(const Expr& expr, const BindPlace& place) {
  if (place.quiet) return ReportedCode(expr.span);
  Diagnostic error = Error("unknown-name", "unknown name " + Quoted(expr.text)).At(expr.span);
  if (const Declared* table = names_->Find(expr.text)) {
    error.primary.text = "a table";
    error.Help("write `" + table->name + "(...)` for a row of it");
    return Broken(std::move(error));
  }
  if (const Span below = names_->PlaceOf(expr.text)) {
    error.Also(below, "declared here, further down").Help("move the declaration up");
    return Broken(std::move(error));
  }
  std::vector<std::string_view> candidates;
  if (place.variables)
    for (const Variable& variable : *place.variables) candidates.push_back(variable.name);
  for (const Declared& name : names_->all())
    if (name.kind != Declared::Kind::kTable) candidates.push_back(name.name);
  if (expr.text.size() > 2)
    for (const std::string_view dtype : DTypeNames()) candidates.push_back(dtype);
  HelpNearest(&error, expr.text, candidates);
  if (error.helps.empty() && *place.help) error.Help(place.help);
  return Broken(std::move(error));
}

Code Binder::BuildName(const Expr& expr, const BindPlace& place) {
  if (place.variables)
    for (size_t i = 0; i < place.variables->size(); ++i)
      if ((*place.variables)[i].name == expr.text && expr.text != "_")
        return VariableCode(static_cast<int>(i), expr.span, place);
  if (expr.text == "rank" || expr.text == "dtype") {
    if (!place.tensor)
      return Broken(Error("no-tensor", Quoted(expr.text) + " has no tensor to speak of here")
                        .At(expr.span)
                        .Help("it stands in guards and in arguments of operations"));
    Code code;
    code.kind = expr.text == "rank" ? Code::Kind::kRank : Code::Kind::kDType;
    code.span = expr.span;
    return code;
  }
  const Declared* name = names_->Find(expr.text);
  if (name != nullptr && name->kind != Declared::Kind::kTable) {
    Code code = names_->Use(expr.text)->code;
    code.span = expr.span;
    return code;
  }
  if (expr.text == "true" || expr.text == "false")
    return ConstantCode(expr.text == "true", expr.span);
  if (const auto dtype = DTypeByName(expr.text)) return ConstantCode(*dtype, expr.span);
  return UnknownName(expr, place);
}

Code Binder::BuildGroup(int group, Span span, const BindPlace& place) {
  if (place.quiet) return ReportedCode(span);
  const std::string written = "`\\" + std::to_string(group) + "`";
  if (place.groups == nullptr || place.groups->empty())
    return Broken(Error("no-group", written + " has no regex to count groups of")
                      .At(span)
                      .Help("name the holes of the pattern: `{x}`"));
  const size_t index = static_cast<size_t>(group);
  if (index >= place.groups->size() || (*place.groups)[index] < 0) {
    const size_t count = place.groups->size() - 1;
    return Broken(
        Error("no-group", "there is no group " + written)
            .At(span)
            .Note("the regex has " + std::to_string(count) + (count == 1 ? " group" : " groups")));
  }
  return VariableCode((*place.groups)[index], span, place);
}

// --- Calls --------------------------------------------------------------------------------------

bool Binder::TakesArgs(const Expr& expr, size_t least, size_t most, const char* form) {
  if (expr.args.size() >= least && expr.args.size() <= most) return true;
  Broken(Error("argument-count",
               Quoted(expr.text) + " is given " + std::to_string(expr.args.size()) + " arguments")
             .At(expr.span)
             .Help(std::string("write `") + form + "`"));
  return false;
}

Code Binder::UnknownFunction(const Expr& expr) {
  Diagnostic error = Error("unknown-name", "unknown table or function " + Quoted(expr.text));
  error.At(expr.span);
  if (const Span below = names_->PlaceOf(expr.text)) {
    const Declared* name = names_->Find(expr.text);
    error.Also(below, name ? "not a table" : "declared here, further down");
    if (!name) error.Help("move the declaration up");
    return Broken(std::move(error));
  }
  std::vector<std::string_view> candidates = {"dots", "slashes", "meta", "dim", "has"};
  for (const Declared& name : names_->all())
    if (name.kind == Declared::Kind::kTable) candidates.push_back(name.name);
  HelpNearest(&error, expr.text, candidates);
  return Broken(std::move(error));
}

Code Binder::BuildCall(const Expr& expr, const BindPlace& place, bool lazy) {
  if (expr.text == "meta") return BuildMeta(expr, place, lazy);
  if (expr.text == "dim") return BuildDim(expr, place, lazy);
  Code code;
  code.span = expr.span;
  const Declared* table = names_->Find(expr.text);
  if (table != nullptr && table->kind == Declared::Kind::kTable) {
    names_->Use(expr.text);
    code.kind = Code::Kind::kTable;
    code.table = table->table;
    if (table->code.kind == Code::Kind::kMissing) return table->code;
  } else if (expr.text == "dots" || expr.text == "slashes") {
    code.kind = expr.text == "dots" ? Code::Kind::kDots : Code::Kind::kSlashes;
  } else {
    return UnknownFunction(expr);
  }
  const std::string form = expr.text + "(x)";
  if (!TakesArgs(expr, 1, 1, form.c_str())) {
    code.kind = Code::Kind::kMissing;
    return code;
  }
  code.args.push_back(Build(expr.args[0], place, lazy));
  return Fold(std::move(code), lazy);
}

Code Binder::BuildMeta(const Expr& expr, const BindPlace& place, bool lazy) {
  Code code;
  code.kind = Code::Kind::kMeta;
  code.span = expr.span;
  code.index = meta_.catalog != nullptr;
  if (!TakesArgs(expr, 1, 2, "meta(\"config.num_layers\")")) {
    code.kind = Code::Kind::kMissing;
    return code;
  }
  if (expr.args[0].kind != Expr::Kind::kText)
    return Broken(Error("meta-path", "the path of `meta` is a text in quotes")
                      .At(expr.args[0].span)
                      .Help("write `meta(\"config.num_layers\")`"));
  code.text = expr.args[0].text;
  if (expr.args.size() == 2) code.args.push_back(Build(expr.args[1], place, lazy));
  if (meta_.deferred) return code;
  if (meta_.catalog != nullptr) {
    Result<std::optional<Scalar>> found = FindMeta(*meta_.catalog, code.text);
    if (!found.ok()) return Broken(std::move(std::move(found).error().At(expr.span)));
    if (*found)
      return ConstantCode(std::visit([](const auto& scalar) { return Value(scalar); }, **found),
                          expr.span);
  }
  return code.args.empty() ? code : code.args[0];
}

// The key of dim("KEY", i): a text with holes by name.
KeyTarget Binder::OutputKey(const Expr& text, const BindPlace& place) {
  std::string quoted = "\"";
  for (const char c : text.text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  const auto source = std::make_shared<Source>("dim", quoted + "\"");
  const ParsePatternResult parsed = ParsePattern(source);
  KeyTarget key;
  key.span = text.span;
  if (HasErrors(parsed.diagnostics) || text.kind != Expr::Kind::kText) {
    Broken(Error("dim-key", "the key of `dim` is a text in quotes")
               .At(text.span)
               .Help("write `dim(\"model.embed.weight\", 0)`"));
    return key;
  }
  for (const ast::Pattern::Part& part : parsed.pattern.parts) {
    KeyTarget::Part printed;
    printed.text = part.text;
    if (part.hole) {
      Expr name;
      name.kind = Expr::Kind::kName;
      name.text = part.hole->name;
      name.span = text.span;
      printed.code = std::make_unique<Code>(BuildName(name, place));
    }
    key.parts.push_back(std::move(printed));
  }
  return key;
}

Code Binder::BuildDim(const Expr& expr, const BindPlace& place, bool lazy) {
  Code code;
  code.kind = Code::Kind::kDim;
  code.span = expr.span;
  const bool of_key = expr.args.size() == 2 && place.outputs;
  if (!of_key && !place.tensor)
    return Broken(Error("no-tensor", "`dim` has no tensor to speak of here")
                      .At(expr.span)
                      .Help(place.outputs ? "name an output key: `dim(\"a.weight\", 0)`"
                                          : "it stands in guards and in arguments of operations"));
  if (!of_key && !TakesArgs(expr, 1, 1, "dim(i)")) {
    code.kind = Code::Kind::kMissing;
    return code;
  }
  if (of_key) code.target = std::make_shared<KeyTarget>(OutputKey(expr.args[0], place));
  code.args.push_back(Build(expr.args.back(), place, lazy));
  return code;
}

// --- Operators ----------------------------------------------------------------------------------

// True if the types of the operands may be right.
bool Binder::CheckOperands(const Code& code) {
  const std::string& op = code.text;
  if (IsComparison(op)) {
    const StaticType a = StaticTypeOf(code.args[0]), b = StaticTypeOf(code.args[1]);
    const bool ordered = op != "==" && op != "!=";
    if (a == StaticType::kUnknown || b == StaticType::kUnknown) return true;
    if (a == b && (!ordered || a == StaticType::kNumber)) return true;
    Diagnostic error = a == b
                           ? Error("type-mismatch", "only numbers have an order")
                           : Error("type-mismatch", std::string(NameOf(a)) + " is compared with " +
                                                        std::string(NameOf(b)));
    error.At(code.span).Also(code.args[0].span, NameOf(a)).Also(code.args[1].span, NameOf(b));
    for (const Code& arg : code.args)
      if (arg.kind == Code::Kind::kVariable && StaticTypeOf(arg) == StaticType::kText && a != b)
        error.Help("declare it `{" + arg.text + ":int}`");
    Broken(std::move(error));
    return false;
  }
  const StaticType wanted = IsLogic(op) ? StaticType::kTruth : StaticType::kNumber;
  for (const Code& arg : code.args) {
    const StaticType type = StaticTypeOf(arg);
    if (type == wanted || type == StaticType::kUnknown) continue;
    Diagnostic error =
        IsLogic(op)
            ? Error("type-mismatch", Quoted(op) + " wants conditions, and this is " + NameOf(type))
            : Error("text-in-arithmetic",
                    Quoted(op) + " wants numbers, and this is " + NameOf(type));
    error.At(arg.span);
    if (arg.kind == Code::Kind::kVariable && !IsLogic(op))
      error.Help("declare it `{" + arg.text + ":int}`");
    Broken(std::move(error));
    return false;
  }
  return true;
}

Code Binder::BuildOperator(const Expr& expr, const BindPlace& place, bool lazy) {
  Code code;
  code.kind = expr.kind == Expr::Kind::kUnary ? Code::Kind::kUnary : Code::Kind::kBinary;
  code.span = expr.span;
  code.text = expr.text;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const bool may_skip = i > 0 && (expr.text == "and" || expr.text == "or");
    code.args.push_back(Build(expr.args[i], place, lazy || may_skip));
  }
  if (!CheckOperands(code)) {
    code.kind = Code::Kind::kMissing;
    code.args.clear();
    code.text.clear();
    return code;
  }
  return Fold(std::move(code), lazy);
}

Code Binder::Build(const Expr& expr, const BindPlace& place, bool lazy) {
  Code code;
  code.span = expr.span;
  switch (expr.kind) {
    case Expr::Kind::kInteger:
      return ConstantCode(expr.integer, expr.span);
    case Expr::Kind::kReal:
      return ConstantCode(expr.real, expr.span);
    case Expr::Kind::kText:
      return ConstantCode(expr.text, expr.span);
    case Expr::Kind::kGroup:
      return BuildGroup(static_cast<int>(expr.integer), expr.span, place);
    case Expr::Kind::kName:
      return BuildName(expr, place);
    case Expr::Kind::kCall:
      return BuildCall(expr, place, lazy);
    case Expr::Kind::kHas:
      if (!place.keys)
        return Broken(Error("no-keys", "`has` stands in the guards of rules").At(expr.span));
      code.kind = Code::Kind::kHas;
      code.target = std::make_shared<KeyTarget>(BindTarget(*expr.target, place));
      return code;
    case Expr::Kind::kList:
      code.kind = Code::Kind::kList;
      for (const Expr& arg : expr.args) code.args.push_back(Build(arg, place, lazy));
      return Fold(std::move(code), lazy);
    case Expr::Kind::kUnary:
    case Expr::Kind::kBinary:
      return BuildOperator(expr, place, lazy);
  }
  return code;
}

Code Binder::BindCondition(const Expr& expr, const BindPlace& place) {
  Code code = Build(expr, place, false);
  const StaticType type = StaticTypeOf(code);
  if (type == StaticType::kTruth || type == StaticType::kUnknown) return code;
  return Broken(
      Error("type-mismatch", std::string("a condition is needed, and this is ") + NameOf(type))
          .At(expr.span)
          .Help("compare it: `... == 1`"));
}

Code Binder::BindInt(const Expr& expr, const BindPlace& place) {
  Code code = Build(expr, place, false);
  const StaticType type = StaticTypeOf(code);
  const bool fraction =
      code.IsConstant() && type == StaticType::kNumber && !WholeNumber(code.value);
  if (!fraction && (type == StaticType::kNumber || type == StaticType::kUnknown)) return code;
  Diagnostic error = Error("type-mismatch", std::string("an integer is needed, and this is ") +
                                                (fraction ? ToString(code.value) : NameOf(type)));
  error.At(expr.span);
  if (code.kind == Code::Kind::kVariable) error.Help("declare it `{" + code.text + ":int}`");
  return Broken(std::move(error));
}

// --- Targets ------------------------------------------------------------------------------------

KeyTarget Binder::BindTarget(const ast::Target& target, const BindPlace& place) {
  KeyTarget bound;
  bound.span = target.span;
  const auto add_text = [&bound](const std::string& text) {
    if (bound.parts.empty() || bound.parts.back().code) bound.parts.emplace_back();
    bound.parts.back().text += text;
  };
  for (const ast::Target::Part& part : target.parts) {
    if (part.kind == ast::Target::Part::Kind::kText) {
      add_text(part.text);
      continue;
    }
    KeyTarget::Part printed;
    printed.pad = part.pad;
    if (part.kind == ast::Target::Part::Kind::kGroup) {
      printed.code = std::make_unique<Code>(BuildGroup(part.group, part.span, place));
    } else if (part.pad > 0) {
      printed.code = std::make_unique<Code>(BindInt(*part.expr, place));
    } else {
      printed.code = std::make_unique<Code>(Build(*part.expr, place, false));
      const StaticType type = StaticTypeOf(*printed.code);
      if (type != StaticType::kText && type != StaticType::kNumber && type != StaticType::kUnknown)
        Broken(
            Error("type-mismatch",
                  std::string("a key is made of texts and integers, and this is ") + NameOf(type))
                .At(part.span));
    }
    if (!printed.code->IsConstant()) {
      bound.parts.push_back(std::move(printed));
      continue;
    }
    KeyTarget constant;
    constant.parts.push_back(std::move(printed));
    std::string text;
    if (Status done = constant.Print(Env(), &text); !done.ok()) {
      Broken(std::move(done).error());
    } else {
      add_text(text);
    }
  }
  return bound;
}

}  // namespace rekey
