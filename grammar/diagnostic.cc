#include "grammar/diagnostic.h"

#include <algorithm>
#include <iterator>

#include "grammar/printable.h"

namespace rekey {
namespace {

constexpr size_t kWindow = 160;  // columns of a source line that are shown
constexpr size_t kLeadIn = 40;   // of them before the place, when the line is longer
constexpr size_t kTabWidth = 4;  // a tab is shown as blanks
constexpr char kElision[] = "...";

// ANSI colours, or nothing.
class Paint {
 public:
  Paint(bool on, Severity severity) : on_(on), severity_(severity) {}

  std::string Bold(const std::string& text) const { return Wrap("1", text); }
  std::string Gutter(const std::string& text) const { return Wrap("1;34", text); }
  std::string Main(const std::string& text) const {
    return Wrap(severity_ == Severity::kError     ? "1;31"
                : severity_ == Severity::kWarning ? "1;33"
                                                  : "1;36",
                text);
  }

 private:
  std::string Wrap(const char* code, const std::string& text) const {
    return on_ && !text.empty() ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }

  bool on_;
  Severity severity_;
};

std::string_view Word(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

// A source line as it is shown: at most kWindow columns around a place.
class ShownLine {
 public:
  ShownLine(std::string_view line, size_t place) {
    std::vector<Glyph> glyphs;
    size_t width = 0;
    for (std::string_view rest = line; !rest.empty();) {
      Glyph glyph =
          rest[0] == '\t' ? Glyph{std::string(kTabWidth, ' '), 1, kTabWidth} : FirstGlyph(rest);
      columns_.insert(columns_.end(), glyph.bytes, width);
      width += glyph.width;
      rest.remove_prefix(glyph.bytes);
      glyphs.push_back(std::move(glyph));
    }
    columns_.push_back(width);
    Cut(glyphs, width, columns_[std::min(place, line.size())]);
  }

  const std::string& text() const { return text_; }

  // Where byte `offset` of the line stands in text(), counted in columns and held inside it.
  size_t Column(size_t offset) const {
    const size_t column = columns_[std::min(offset, columns_.size() - 1)];
    return lead_ + std::clamp(column, begin_, end_) - begin_;
  }

 private:
  void Cut(const std::vector<Glyph>& glyphs, size_t width, size_t place) {
    if (width > kWindow) {
      begin_ = place > kWindow - kLeadIn ? place - kLeadIn : 0;
      begin_ = std::min(begin_, width - kWindow + kLeadIn);
      lead_ = begin_ > 0 ? sizeof kElision - 1 : 0;
    }
    if (lead_ > 0) text_ = kElision;
    end_ = begin_;
    size_t column = 0;
    bool first = true;
    for (const Glyph& glyph : glyphs) {
      if (column >= begin_) {
        if (first) begin_ = end_ = column;
        first = false;
        if (column + glyph.width > begin_ + kWindow) {
          text_ += kElision;
          return;
        }
        text_ += glyph.shown;
        end_ = column + glyph.width;
      }
      column += glyph.width;
    }
  }

  std::string text_;
  std::vector<size_t> columns_;  // of each byte, and of the end
  size_t begin_ = 0;             // columns shown: [begin_, end_)
  size_t end_ = 0;
  size_t lead_ = 0;
};

struct Mark {
  Span span;
  const std::string* text;
  bool primary;
  Location where;
};

// The gutter and everything in it.
class Snippets {
 public:
  Snippets(const Diagnostic& diagnostic, const Paint& paint) : paint_(paint) {
    if (diagnostic.primary.span) Add(diagnostic.primary, true);
    for (const Label& label : diagnostic.labels)
      if (label.span) Add(label, false);
    uint32_t last = 1;
    for (const Mark& mark : marks_) last = std::max(last, mark.where.line);
    indent_ = marks_.empty() ? 1 : std::to_string(last).size();
  }

  // Marks of one file stand together, files in the order they are first named.
  std::string Render() {
    std::string out;
    while (!marks_.empty()) {
      const Source* source = marks_.front().span.source;
      auto others = std::stable_partition(marks_.begin(), marks_.end(), [&](const Mark& mark) {
        return mark.span.source == source;
      });
      std::vector<Mark> group(marks_.begin(), others);
      marks_.erase(marks_.begin(), others);
      RenderFile(*source, group, &out);
    }
    return out;
  }

  std::string Blank() const { return paint_.Gutter(std::string(indent_ + 1, ' ') + "|"); }

  // = note: text
  std::string Remark(const char* kind, const std::string& text) const {
    std::string out =
        paint_.Gutter(std::string(indent_ + 1, ' ') + "=") + " " + paint_.Bold(kind) + ": ";
    const std::string next(indent_ + 5 + std::string_view(kind).size(), ' ');
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      out += Printable(std::string_view(text).substr(begin, end - begin)) + "\n" + next;
    return out + Printable(std::string_view(text).substr(begin)) + "\n";
  }

 private:
  void Add(const Label& label, bool primary) {
    marks_.push_back(
        {label.span, &label.text, primary, label.span.source->Locate(label.span.begin)});
  }

  void RenderFile(const Source& source, std::vector<Mark> marks, std::string* out) const {
    const Location& at = marks.front().where;
    *out += std::string(indent_, ' ') + paint_.Gutter(marks.front().primary ? "--> " : "::: ") +
            Printable(source.name()) + ":" + std::to_string(at.line) + ":" +
            std::to_string(at.column) + "\n" + Blank() + "\n";
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.where.line < b.where.line; });
    for (auto mark = marks.begin(); mark != marks.end();) {
      auto next = std::find_if(mark, marks.end(), [&](const Mark& other) {
        return other.where.line != mark->where.line;
      });
      if (mark != marks.begin() && mark->where.line > std::prev(mark)->where.line + 1)
        *out += kElision + std::string("\n");
      RenderLine(source, mark, next, out);
      mark = next;
    }
  }

  void RenderLine(const Source& source, std::vector<Mark>::const_iterator begin,
                  std::vector<Mark>::const_iterator end, std::string* out) const {
    const uint32_t number = begin->where.line;
    const std::string_view line = source.Line(number);
    auto main = std::find_if(begin, end, [](const Mark& mark) { return mark.primary; });
    const ShownLine shown(line, (main == end ? begin : main)->where.column - 1);
    std::string label = std::to_string(number);
    label.insert(0, indent_ - label.size(), ' ');
    *out += paint_.Gutter(label + " |") + (line.empty() ? "" : " ") + shown.text() + "\n";
    for (auto mark = begin; mark != end; ++mark) {
      const size_t first = mark->where.column - 1;
      const size_t length = mark->span.end - mark->span.begin;
      const size_t from = shown.Column(first);
      const size_t to = std::max(from + 1, shown.Column(std::min(first + length, line.size())));
      std::string row(to - from, mark->primary ? '^' : '-');
      if (!mark->text->empty()) row += " " + Printable(*mark->text);
      *out += Blank() + " " + std::string(from, ' ') +
              (mark->primary ? paint_.Main(row) : paint_.Gutter(row)) + "\n";
    }
  }

  const Paint& paint_;
  std::vector<Mark> marks_;
  size_t indent_ = 1;
};

}  // namespace

Diagnostic Error(std::string name, std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::kError;
  diagnostic.name = std::move(name);
  diagnostic.message = std::move(message);
  return diagnostic;
}

Diagnostic Warning(std::string name, std::string message) {
  Diagnostic diagnostic = Error(std::move(name), std::move(message));
  diagnostic.severity = Severity::kWarning;
  return diagnostic;
}

bool HasErrors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError;
  });
}

std::string Render(const Diagnostic& diagnostic, bool color) {
  const Paint paint(color, diagnostic.severity);
  std::string out = paint.Main(std::string(Word(diagnostic.severity))) +
                    paint.Bold(": " + Printable(diagnostic.message));
  if (!diagnostic.name.empty()) out += " [" + diagnostic.name + "]";
  out += "\n";
  Snippets snippets(diagnostic, paint);
  out += snippets.Render();
  for (const std::string& note : diagnostic.notes) out += snippets.Remark("note", note);
  for (const std::string& help : diagnostic.helps) out += snippets.Remark("help", help);
  return out;
}

}  // namespace rekey
