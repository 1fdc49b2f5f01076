// A rule file's text and places in it.
//
// Source owns the text of one file and turns byte offsets into lines and columns. Span names a
// stretch of that text; every node of the tree and every diagnostic carries one, so that a message
// issued long after parsing can still point at the words that caused it. It is not a file reader:
// whoever has the text makes the Source.
//
//   auto source = std::make_shared<Source>("a.rekey", "strip \"module.\"\n");
//   Span span{source.get(), 6, 15};
//   source->Locate(span.begin)   // {line 1, column 7}
//   span.Text()                  // "\"module.\""
#ifndef REKEY_GRAMMAR_SOURCE_H_
#define REKEY_GRAMMAR_SOURCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rekey {

// Both count from 1. `column` counts bytes, so that editors and the text in a message agree.
struct Location {
  uint32_t line = 1;
  uint32_t column = 1;
};

class Source {
 public:
  // `name` is what messages print: a path as the user typed it, "-e", "-", or "pack:NAME@VERSION".
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  Location Locate(uint32_t offset) const;

  // Line `number` (from 1) without its line end; empty when there is no such line.
  std::string_view Line(uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

// Bytes [begin, end) of a source. The Source must outlive it: File (ast.h) keeps its sources alive.
// A default Span (no source) means "nowhere in a rule file".
struct Span {
  const Source* source = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  explicit operator bool() const { return source != nullptr; }
  std::string_view Text() const {
    return source ? std::string_view(source->text()).substr(begin, end - begin)
                  : std::string_view();
  }
};

}  // namespace rekey

#endif  // REKEY_GRAMMAR_SOURCE_H_
