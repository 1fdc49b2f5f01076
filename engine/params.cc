#include "engine/params.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/arithmetic.h"
#include "engine/static_type.h"
#include "grammar/format.h"
#include "grammar/parser.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

// What a param may hold: the declared type, else that of its default.
std::string TypeOf(const ast::Param& param, const std::optional<Value>& own) {
  if (!param.type.empty() || !own) return param.type;
  if (own->truth()) return "bool";
  if (own->integer()) return "int";
  if (own->real()) return "float";
  if (own->text()) return "text";
  return own->dtype() ? "dtype" : "list";
}

const char* Article(const std::string& type) {
  if (type == "int") return "an integer";
  if (type == "float") return "a number";
  if (type == "text") return "a text";
  if (type == "bool") return "true or false";
  return type == "dtype" ? "a dtype" : "a list";
}

// The value as one of that type, or nothing. `from_file`: a checkpoint may hold numbers as text.
std::optional<Value> Coerce(const Value& value, const std::string& type, bool from_file) {
  if (type.empty()) return value;
  if (type == "int" || type == "float") {
    Value number = value;
    if (from_file && value.text())
      if (const auto digits = ParseDigits(*value.text())) number = Value(*digits);
    if (type == "float" && number.integer()) return Value(static_cast<double>(*number.integer()));
    if (type == "float") return number.real() ? std::optional(number) : std::nullopt;
    if (const auto whole = WholeNumber(number)) return Value(*whole);
    return std::nullopt;
  }
  const bool fits = (type == "text" && value.text()) || (type == "bool" && value.truth()) ||
                    (type == "dtype" && value.dtype()) || (type == "list" && value.list());
  return fits ? std::optional(value) : std::nullopt;
}

size_t SizeOf(const Code& code) {
  size_t size = 1;
  for (const Code& arg : code.args) size += SizeOf(arg);
  return size;
}

// More is nobody's let: a chain of them would double without end.
constexpr size_t kMaxLetSize = 10000;

class Declarer {
 public:
  Declarer(const CompileOptions& options, MetaSource meta, Names* names,
           std::vector<ParamInfo>* params, Diagnostics* diagnostics)
      : options_(options),
        meta_(meta),
        names_(names),
        params_(params),
        diagnostics_(diagnostics),
        binder_(names, meta, diagnostics) {}

  void Run(const Spliced& whole) {
    for (const Spliced::Item& item : whole.items) Announce(item);
    for (const Spliced::Item& item : whole.items) {
      included_ = item.included;
      const auto& node = item.statement->node;
      if (const auto* param = std::get_if<ast::Param>(&node)) DeclareParam(*param);
      if (const auto* let = std::get_if<ast::Let>(&node)) DeclareLet(*let);
      if (const auto* table = std::get_if<ast::Table>(&node)) DeclareTable(*table);
      if (const auto* require = std::get_if<ast::Require>(&node))
        CheckRequire(*require, item.statement->span);
    }
    CheckGivenNames();
  }

 private:
  void Report(Diagnostic error) { diagnostics_->push_back(std::move(error)); }

  void Announce(const Spliced::Item& item) {
    const auto& node = item.statement->node;
    if (const auto* param = std::get_if<ast::Param>(&node))
      names_->Announce(param->name, param->name_span);
    if (const auto* let = std::get_if<ast::Let>(&node)) names_->Announce(let->name, let->name_span);
    if (const auto* table = std::get_if<ast::Table>(&node))
      names_->Announce(table->name, table->name_span);
  }

  void Declare(Declared::Kind kind, const std::string& name, Span span, Code code,
               std::shared_ptr<const TableValues> table = nullptr) {
    Declared declared;
    declared.kind = kind;
    declared.name = name;
    declared.span = span;
    declared.code = std::move(code);
    declared.table = std::move(table);
    declared.included = included_;
    names_->Declare(std::move(declared), diagnostics_);
  }

  // --- params ---

  // The texts of -p name=..., the last one; null when there is none.
  const std::string* GivenText(const std::string& name) const {
    const std::string* text = nullptr;
    for (const auto& [given, value] : options_.params)
      if (given == name) text = &value;
    return text;
  }
  const ast::Expr* WithValue(const std::string& name) const {
    const ast::Expr* expr = nullptr;
    for (const auto& [given, value] : options_.with)
      if (given == name) expr = &value;
    return expr;
  }

  void WrongType(const std::string& name, const std::string& type, const std::string& given,
                 Span span, Span declared) {
    Diagnostic error =
        Error("param-type", "param " + Quoted(name) + " takes " + Article(type) + ", not " + given);
    if (span) {
      error.At(span).Also(declared, "the param");
    } else {
      error.At(declared).Help("write `-p " + name + "=...` with " + Article(type));
    }
    Report(std::move(error));
  }

  // A text of -p as a value of that type.
  std::optional<Value> ReadGiven(const std::string& name, const std::string& text,
                                 const std::string& type, Span declared) {
    const auto source = std::make_shared<Source>("-p " + name, text);
    ParseExprResult parsed = ParseExpr(source);
    const bool parses = !HasErrors(parsed.diagnostics);
    if (type == "text")
      return Value(parses && parsed.expr.kind == ast::Expr::Kind::kText ? parsed.expr.text : text);
    if (parses && parsed.expr.kind == ast::Expr::Kind::kName && type.empty() &&
        !IsValueWord(parsed.expr.text))
      return Value(text);
    if (parses) {
      Names none;
      Diagnostics errors;
      Binder binder(&none, MetaSource(), &errors);
      const Code code = binder.Bind(parsed.expr, BindPlace());
      if (errors.empty() && code.IsConstant())
        if (std::optional<Value> value = Coerce(code.value, type, false)) return value;
    } else if (type.empty()) {
      return Value(text);
    }
    WrongType(name, type.empty() ? "text" : type, Quoted(text), Span(), declared);
    return std::nullopt;
  }

  Code Missing(const ast::Param& param, const std::string& path) const {
    Code code;
    code.kind = Code::Kind::kMissing;
    code.text = param.name;
    code.index = meta_.catalog != nullptr;
    code.args.push_back(ConstantCode(path, param.name_span));
    return code;
  }

  void DeclareParam(const ast::Param& param) {
    Code own = param.value ? binder_.Bind(*param.value, BindPlace()) : Missing(param, "");
    const bool is_meta =
        param.value && param.value->kind == ast::Expr::Kind::kCall && param.value->text == "meta";
    const std::string type =
        TypeOf(param, own.IsConstant() && !is_meta ? std::optional(own.value) : std::nullopt);
    ParamInfo info;
    info.name = param.name;
    info.span = param.name_span;
    Code code = std::move(own);
    if (const ast::Expr* with = WithValue(param.name)) {
      info.origin = "with";
      code = FromWith(*with, param, type);
    } else if (const std::string* text = GivenText(param.name)) {
      info.origin = "-p";
      const auto value = ReadGiven(param.name, *text, type, param.name_span);
      code = value ? ConstantCode(*value, param.name_span) : ReportedCode(param.name_span);
    } else if (code.IsConstant()) {
      info.origin = is_meta ? param.value->args[0].text : "default";
      if (const auto value = Coerce(code.value, type, is_meta)) {
        code.value = *value;
      } else {
        WrongType(param.name, type, ToString(code.value), code.span, param.name_span);
        code = ReportedCode(param.name_span);
      }
    } else if (!meta_.deferred) {
      // Without a value: as a param of its own where meta has none, else that of the param it
      // needs.
      const Code* meta = FindCode(code, Code::Kind::kMeta);
      const Code* missing = FindCode(code, Code::Kind::kMissing);
      if (meta != nullptr || missing == nullptr) {
        code = Missing(param, meta ? meta->text : "");
      } else {
        code = Code(*missing);
      }
    }
    if (code.IsConstant()) info.value = code.value;
    params_->push_back(std::move(info));
    Declare(Declared::Kind::kParam, param.name, param.name_span, std::move(code));
  }

  Code FromWith(const ast::Expr& with, const ast::Param& param, const std::string& type) {
    Code code = type == "text" && with.kind == ast::Expr::Kind::kName
                    ? ConstantCode(with.text, with.span)
                    : binder_.Bind(with, BindPlace());
    if (!code.IsConstant()) return code;
    if (const auto value = Coerce(code.value, type, false)) {
      code.value = *value;
    } else {
      WrongType(param.name, type, ToString(code.value), with.span, param.name_span);
      code = ReportedCode(with.span);
    }
    return code;
  }

  // -p and `with` of what no file declares.
  void CheckGivenNames() {
    std::vector<std::string_view> known;
    for (const ParamInfo& param : *params_) known.push_back(param.name);
    const auto check = [&](const std::string& name, Span span) {
      if (std::find(known.begin(), known.end(), name) != known.end()) return;
      Diagnostic error = Error("unknown-param", "there is no param " + Quoted(name));
      if (span) error.At(span);
      for (const std::string_view near : Nearest(name, known, 1))
        error.Help("did you mean " + Quoted(near) + "?");
      if (known.empty()) error.Note("the rules have no params");
      if (error.helps.empty() && !known.empty()) {
        std::string all;
        for (const std::string_view one : known) all += (all.empty() ? "" : ", ") + Quoted(one);
        error.Note("the params are " + all);
      }
      Report(std::move(error));
    };
    for (const auto& given : options_.params) check(given.first, Span());
    for (const auto& with : options_.with) check(with.first, with.second.span);
  }

  // --- lets, tables, require ---

  void DeclareLet(const ast::Let& let) {
    Code code = binder_.Bind(let.value, BindPlace());
    if (const Code* missing = FindCode(code, Code::Kind::kMissing)) code = Code(*missing);
    if (!code.IsConstant() && SizeOf(code) > kMaxLetSize) {
      Report(Error("let-size", "the let " + Quoted(let.name) + " grows without end")
                 .At(let.name_span));
      code = ConstantCode(0, let.name_span);
    }
    Declare(Declared::Kind::kLet, let.name, let.name_span, std::move(code));
  }

  void DeclareTable(const ast::Table& tree) {
    auto table = std::make_shared<TableValues>();
    table->name = tree.name;
    table->span = tree.name_span;
    Code code;
    for (const ast::Table::Row& row : tree.rows) {
      const KeyTarget target = binder_.BindTarget(row.value, BindPlace());
      table->keys.push_back(row.key);
      std::string text;
      for (const KeyTarget::Part& part : target.parts) {
        if (!part.code) {
          text = part.text;
        } else if (const Code* missing = FindCode(*part.code, Code::Kind::kMissing)) {
          code = *missing;
        } else {
          Report(Error("table-value", "a row of a table is known before any key is read")
                     .At(row.value.span));
        }
      }
      // 0 and 12 are numbers; 007 is a text, or its zeros would be lost.
      const auto number = text.size() > 1 && text[0] == '0' ? std::nullopt : ParseDigits(text);
      table->values.emplace(row.key, number ? Value(*number) : Value(text));
    }
    Declare(Declared::Kind::kTable, tree.name, tree.name_span, std::move(code), std::move(table));
  }

  static void AddNames(const ast::Expr& expr, std::vector<std::string>* names) {
    if (expr.kind == ast::Expr::Kind::kName &&
        std::find(names->begin(), names->end(), expr.text) == names->end())
      names->push_back(expr.text);
    for (const ast::Expr& arg : expr.args) AddNames(arg, names);
  }

  void CheckRequire(const ast::Require& require, Span span) {
    const Code code = binder_.BindCondition(require.condition, BindPlace());
    if (!code.IsConstant() || !code.value.truth() || *code.value.truth()) return;
    Diagnostic error =
        Error("require",
              require.why ? *require.why : Quoted(Format(require.condition)) + " does not hold");
    error.At(span);
    std::vector<std::string> names;
    AddNames(require.condition, &names);
    for (const std::string& name : names)
      if (const Declared* declared = names_->Find(name))
        if (declared->code.IsConstant())
          error.Note(Quoted(name) + " is " + ToString(declared->code.value));
    Report(std::move(error));
  }

  const CompileOptions& options_;
  MetaSource meta_;
  Names* names_;
  std::vector<ParamInfo>* params_;
  Diagnostics* diagnostics_;
  Binder binder_;
  bool included_ = false;
};

}  // namespace

void DeclareAll(const Spliced& whole, const CompileOptions& options, MetaSource meta, Names* names,
                std::vector<ParamInfo>* params, Diagnostics* diagnostics) {
  Declarer(options, meta, names, params, diagnostics).Run(whole);
}

}  // namespace rekey
