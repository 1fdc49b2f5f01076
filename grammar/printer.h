// Lines of rule text under construction: words, breaks, comments, brackets.
//
// The lower half of Format (format.h). It prints the parts of statements, and puts each comment
// back where it stood: every part is announced with its place in the source (Before), and comments
// that come earlier are written first. A flat printer knows no comments and never breaks a line:
// it is what measures whether something fits, and what messages quote.
#ifndef REKEY_GRAMMAR_PRINTER_H_
#define REKEY_GRAMMAR_PRINTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/ast.h"

namespace rekey {

inline constexpr size_t kLineWidth = 100;

// The columns that `text` takes.
size_t Width(std::string_view text);

class Printer {
 public:
  // Flat.
  Printer() = default;
  // With the comments and line breaks of `file`.
  explicit Printer(const ast::File& file) : flat_(false), comments_(&file.comments) {}

  // --- Lines ------------------------------------------------------------------------------------

  void Put(std::string_view text);
  void BreakLine();
  void Indent() { indent_ += 2; }
  void Outdent() { indent_ -= 2; }
  size_t Column() const;  // where the next word would stand
  bool flat() const { return flat_; }

  // Writes the comments that stand before `offset`. Afterwards the line must be broken if `owed()`.
  void Before(uint32_t offset);
  void Before(Span span) {
    if (span) Before(span.begin);
  }
  bool owed() const { return owed_; }

  // Begins a statement, a row or a line of a test on a new line, after a blank one if the source
  // has one there or, for a tree that was not parsed, if `blank`.
  void BeginLine(Span span, bool blank = false);
  // Ends it: what comes next is compared with this place.
  void EndLine(Span span);
  // After `{`: a blank line that follows is left out.
  void BeginBlock() {
    block_start_ = true;
    inside_ = false;
  }

  // Comments that are left, then the whole text.
  std::string Finish();
  const std::string& text() const { return out_; }

  // Whether the author broke the line between two places, or wrote a comment there.
  bool Broken(Span before, Span after) const;
  static bool ManyLines(Span span);

  // --- Parts ------------------------------------------------------------------------------------

  void Print(const ast::Pattern& pattern);
  void Print(const ast::Target& target, bool keyword = false);  // keyword: quoted if bare
  void Print(const ast::Expr& expr, int level = 0);
  void Print(const ast::Op& op);
  void Print(const ast::Range& range);
  void Print(const ast::By& by);
  void Print(const ast::For& loop);
  void Print(const ast::TensorType& type);
  void PrintStr(std::string_view text);   // "text"
  void PrintWord(std::string_view word);  // bare if it can be

  // [a, b] with the author's breaks; one element a line if `spread`.
  void PrintList(char open, char close, Span span, size_t count, bool spread,
                 const std::function<Span(size_t)>& place,
                 const std::function<void(size_t)>& print);

 private:
  void PutComment(const ast::Comment& comment);
  bool BlankBefore(uint32_t offset) const;
  void PrintInner(const ast::Expr& expr);
  void PrintBinary(const ast::Expr& expr);
  void PrintExprs(char open, char close, Span span, const std::vector<ast::Expr>& exprs);
  void BreakIfOwed();

  bool flat_ = true;
  const std::vector<ast::Comment>* comments_ = nullptr;
  size_t next_comment_ = 0;
  std::string out_;
  size_t line_start_ = 0;  // in out_
  size_t indent_ = 0;
  bool owed_ = false;        // a comment ends the line
  bool block_start_ = true;  // nothing printed in this block yet
  bool inside_ = false;      // a statement: blank lines in it are left out
  const Source* source_ = nullptr;
  uint32_t last_end_ = 0;  // in the source, of what was printed last
};

}  // namespace rekey

#endif  // REKEY_GRAMMAR_PRINTER_H_
