#include "grammar/printer.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "grammar/printable.h"

namespace rekey {

using ast::Expr;

namespace {

bool TextChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_.:/@%~-").find(c) != std::string_view::npos;
}

bool AllTextChars(std::string_view text) { return std::all_of(text.begin(), text.end(), TextChar); }

bool Escapable(char c) { return c == '\\' || c == '{' || c == '}' || c == '"'; }

// Text that can stand without quotes, if need be with escapes.
bool CanBeBare(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return TextChar(c) || Escapable(c); });
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (Escapable(c)) out += '\\';
    out += c;
  }
  return out;
}

// How tightly an expression binds, as the levels of the grammar.
enum Level {
  kAny = 0,
  kOrLevel,
  kAndLevel,
  kNotLevel,
  kCompareLevel,
  kSumLevel,
  kProductLevel,
  kUnaryLevel,
  kAtom
};

Level LevelOf(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kInteger:
      return expr.integer < 0 ? kUnaryLevel : kAtom;
    case Expr::Kind::kReal:
      return expr.real < 0 ? kUnaryLevel : kAtom;
    case Expr::Kind::kUnary:
      return expr.text == "not" ? kNotLevel : kUnaryLevel;
    case Expr::Kind::kBinary:
      if (expr.text == "or") return kOrLevel;
      if (expr.text == "and") return kAndLevel;
      if (expr.text == "+" || expr.text == "-") return kSumLevel;
      if (expr.text == "*" || expr.text == "/" || expr.text == "//" || expr.text == "%")
        return kProductLevel;
      return kCompareLevel;
    default:
      return kAtom;
  }
}

Level Next(Level level) { return static_cast<Level>(level + 1); }

// The number as it was written if it was, else as short as it can be.
std::string Real(const Expr& expr) {
  const std::string_view written = expr.parens ? std::string_view() : expr.span.Text();
  double value = 0;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), value);
  if (!written.empty() && read.ptr == written.data() + written.size() && value == expr.real)
    return std::string(written);
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, expr.real).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// --- Lines --------------------------------------------------------------------------------------

void Printer::Put(std::string_view text) {
  if (text.empty()) return;
  BreakIfOwed();
  if (out_.size() == line_start_) out_.append(indent_, ' ');
  out_ += text;
}

void Printer::BreakLine() {
  if (flat_) return Put(" ");
  owed_ = false;
  if (out_.size() == line_start_) return;
  while (out_.back() == ' ') out_.pop_back();
  out_ += '\n';
  line_start_ = out_.size();
}

void Printer::BreakIfOwed() {
  if (owed_) BreakLine();
}

size_t Printer::Column() const {
  return out_.size() == line_start_ ? indent_ : Width(std::string_view(out_).substr(line_start_));
}

bool Printer::BlankBefore(uint32_t offset) const {
  if (source_ == nullptr || inside_ || block_start_ || offset < last_end_) return false;
  const std::string_view between =
      std::string_view(source_->text()).substr(last_end_, offset - last_end_);
  return std::count(between.begin(), between.end(), '\n') > 1;
}

void Printer::PutComment(const ast::Comment& comment) {
  source_ = comment.span.source;
  const Location at = source_->Locate(comment.span.begin);
  if (comment.own_line || out_.size() == line_start_) {
    BreakLine();
    if (BlankBefore(comment.span.begin)) out_ += '\n', line_start_ = out_.size();
    Put(comment.span.Text());
    block_start_ = false;
  } else {
    BreakIfOwed();
    const size_t column = Width(source_->Line(at.line).substr(0, at.column - 1));
    out_.append(std::max(column, Column() + 2) - Column(), ' ');
    out_ += comment.span.Text();
  }
  owed_ = true;
  last_end_ = comment.span.end;
}

void Printer::Before(uint32_t offset) {
  if (comments_ == nullptr) return;
  while (next_comment_ < comments_->size() && (*comments_)[next_comment_].span.begin < offset)
    PutComment((*comments_)[next_comment_++]);
}

void Printer::BeginLine(Span span, bool blank) {
  Before(span);
  BreakLine();
  if (span ? BlankBefore(span.begin) : blank && !block_start_)
    out_ += '\n', line_start_ = out_.size();
  block_start_ = false;
  inside_ = true;
}

void Printer::EndLine(Span span) {
  inside_ = false;
  if (!span) return;
  source_ = span.source;
  last_end_ = span.end;
}

std::string Printer::Finish() {
  Before(UINT32_MAX);
  BreakLine();
  return std::move(out_);
}

bool Printer::ManyLines(Span span) { return span.Text().find('\n') != std::string_view::npos; }

bool Printer::Broken(Span before, Span after) const {
  if (flat_ || !before || before.source != after.source || before.end > after.begin) return false;
  return ManyLines({before.source, before.end, after.begin});
}

// --- Parts --------------------------------------------------------------------------------------

void Printer::PrintStr(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  Put(out + "\"");
}

void Printer::PrintWord(std::string_view word) {
  if (!word.empty() && AllTextChars(word))
    Put(word);
  else
    PrintStr(word);
}

void Printer::Print(const ast::Pattern& pattern) {
  if (pattern.is_regex) return Put("/" + pattern.regex + "/");
  const auto& parts = pattern.parts;
  const bool bare = !pattern.quoted && !parts.empty() &&
                    (parts[0].hole || parts[0].text.rfind('/', 0) != 0) &&
                    std::all_of(parts.begin(), parts.end(),
                                [](const auto& part) { return part.hole || CanBeBare(part.text); });
  if (!bare) Put("\"");
  for (const ast::Pattern::Part& part : parts) {
    if (!part.hole) {
      Put(Escaped(part.text));
      continue;
    }
    Put("{" + part.hole->name);
    const char* separator = ":";
    for (const std::string& kind : part.hole->kinds) {
      Put(separator);
      PrintWord(kind);
      separator = "|";
    }
    Put("}");
  }
  if (!bare) Put("\"");
}

void Printer::Print(const ast::Target& target, bool keyword) {
  using Kind = ast::Target::Part::Kind;
  const auto& parts = target.parts;
  const bool bare = !target.quoted && !keyword && !parts.empty() &&
                    std::all_of(parts.begin(), parts.end(), [](const auto& part) {
                      return part.kind != Kind::kText || CanBeBare(part.text);
                    });
  if (!bare) Put("\"");
  for (size_t i = 0; i < parts.size(); ++i) {
    const ast::Target::Part& part = parts[i];
    if (part.kind == Kind::kText) {
      Put(Escaped(part.text));
    } else if (part.kind == Kind::kExpr) {
      Put("{");
      Print(*part.expr);
      Put(part.pad > 0 ? ":0" + std::to_string(part.pad) + "}" : "}");
    } else {
      const std::string group = "\\" + std::to_string(part.group);
      const bool digit = i + 1 < parts.size() && parts[i + 1].kind == Kind::kText &&
                         std::isdigit(static_cast<unsigned char>(parts[i + 1].text[0]));
      Put(digit ? "{" + group + "}" : group);
    }
  }
  if (!bare) Put("\"");
}

void Printer::PrintList(char open, char close, Span span, size_t count, bool spread,
                        const std::function<Span(size_t)>& place,
                        const std::function<void(size_t)>& print) {
  Put({&open, 1});
  Indent();
  Span last = span ? Span{span.source, span.begin, span.begin + 1} : Span{};
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) Put(",");
    const Span here = place(i);
    Before(here);
    if (owed() || (spread && !flat_) || Broken(last, here))
      BreakLine();
    else if (i > 0)
      Put(" ");
    print(i);
    last = here;
  }
  const Span end = span ? Span{span.source, span.end - 1, span.end} : Span{};
  Before(end);
  const bool own_line = owed() || (spread && !flat_) || (count > 0 && Broken(last, end));
  Outdent();
  if (own_line) BreakLine();
  Put({&close, 1});
}

void Printer::PrintExprs(char open, char close, Span span, const std::vector<Expr>& exprs) {
  PrintList(
      open, close, span, exprs.size(), false, [&](size_t i) { return exprs[i].span; },
      [&](size_t i) { Print(exprs[i]); });
}

void Printer::Print(const Expr& expr, int level) {
  const bool parens = expr.parens || LevelOf(expr) < level;
  if (!parens) return PrintInner(expr);
  Put("(");
  Indent();
  // The place of a single word in parentheses is not known: comments go before it.
  if (expr.parens && expr.args.empty() && expr.span) Before(expr.span.end - 1);
  PrintInner(expr);
  if (expr.parens && expr.span) Before(expr.span.end - 1);
  Outdent();
  Put(")");
}

void Printer::PrintBinary(const Expr& expr) {
  const Level level = LevelOf(expr);
  const bool chains = level != kCompareLevel;
  const Expr& left = expr.args[0];
  const Expr& right = expr.args[1];
  Before(left.span);
  Print(left, chains ? level : Next(level));
  Put(" " + expr.text);
  Before(right.span);
  if (owed() || Broken(left.span, right.span))
    BreakLine();
  else
    Put(" ");
  Print(right, Next(level));
}

void Printer::PrintInner(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kInteger:
      return Put(std::to_string(expr.integer));
    case Expr::Kind::kReal:
      return Put(Real(expr));
    case Expr::Kind::kText:
      return PrintStr(expr.text);
    case Expr::Kind::kGroup:
      return Put("\\" + std::to_string(expr.integer));
    case Expr::Kind::kName:
      return Put(expr.text);
    case Expr::Kind::kCall: {
      Put(expr.text);
      Span brackets = expr.span;
      if (brackets) brackets.begin += static_cast<uint32_t>(expr.text.size());
      return PrintExprs('(', ')', brackets, expr.args);
    }
    case Expr::Kind::kHas:
      Put("has(");
      Indent();
      Before(expr.target->span);
      Print(*expr.target);
      if (expr.span) Before(expr.span.end - 1);
      Outdent();
      return Put(")");
    case Expr::Kind::kList:
      return PrintExprs('[', ']', expr.span, expr.args);
    case Expr::Kind::kUnary:
      Put(expr.text == "not" ? "not " : "-");
      Before(expr.args[0].span);
      return Print(expr.args[0], LevelOf(expr));
    case Expr::Kind::kBinary:
      return PrintBinary(expr);
  }
}

void Printer::Print(const ast::Op& op) {
  Put(op.name);
  if (!op.has_parens && op.args.empty()) return;
  Span brackets = op.span;
  if (brackets) brackets.begin = op.name_span.end;
  PrintList(
      '(', ')', brackets, op.args.size(), false, [&](size_t i) { return op.args[i].span; },
      [&](size_t i) {
        const ast::Arg& arg = op.args[i];
        if (!arg.name.empty()) {
          Put(arg.name + ":");
          Before(arg.value.span);
          Put(" ");
        }
        Print(arg.value);
        if (!arg.range_end) return;
        Put("..");
        Before(arg.range_end->span);
        Print(*arg.range_end);
      });
}

void Printer::Print(const ast::Range& range) {
  Print(range.begin);
  Put("..");
  Print(range.end);
}

void Printer::Print(const ast::By& by) {
  Put(by.hole);
  if (!by.range) return;
  Put(" in ");
  Print(*by.range);
}

void Printer::Print(const ast::For& loop) {
  if (loop.pattern) return Print(*loop.pattern);
  Put(loop.name + " in ");
  Print(*loop.range);
}

void Printer::Print(const ast::TensorType& type) {
  Put(type.dtype);
  if (!type.dims) return;
  Span brackets = type.span;
  if (brackets) brackets.begin += static_cast<uint32_t>(type.dtype.size());
  PrintExprs('[', ']', brackets, *type.dims);
}

}  // namespace rekey
