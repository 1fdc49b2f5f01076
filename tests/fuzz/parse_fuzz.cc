// libFuzzer: no bytes make the parser crash or hang, every message can be shown, and whatever
// parses survives being written and read. Build with clang, preset `fuzz`; a longer run:
//
//   mkdir /tmp/corpus
//   parse_fuzz -dict=tests/fuzz/parse.dict /tmp/corpus tests/data/rules tests/golden/syntax
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "grammar/dump.h"
#include "grammar/format.h"
#include "grammar/parser.h"

namespace {

void Check(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rekey::ParseResult;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ParseResult result = rekey::Parse(std::make_shared<rekey::Source>("fuzz", text));
  for (const rekey::Diagnostic& diagnostic : result.diagnostics)
    Check(!rekey::Render(diagnostic, true).empty(), "an empty message", text);
  if (rekey::HasErrors(result.diagnostics)) return 0;

  const std::string formatted = rekey::Format(result.file);
  const ParseResult again = rekey::Parse(std::make_shared<rekey::Source>("formatted", formatted));
  Check(!rekey::HasErrors(again.diagnostics), "formatted text does not parse", formatted);
  Check(rekey::Dump(again.file) == rekey::Dump(result.file), "another tree", formatted);
  Check(again.file.comments.size() == result.file.comments.size(), "comments lost", formatted);
  Check(rekey::Format(again.file) == formatted, "formatted twice differs", formatted);
  return 0;
}
