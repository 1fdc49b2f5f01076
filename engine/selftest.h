// Runs the `test` blocks of a rule file.
//
// A test that gives tensors is a real run in small: they are written to a safetensors file, planned
// and, when values are compared, executed and read back. A line `key => key` runs that key alone
// and by names only: a member of a merge goes to its target though its group is incomplete, a split
// is satisfied by any of its targets, guards that ask for a shape or a type hold. File-level
// `expect`, `strict` and unused-rule warnings are off.
//
//   TestReport report = RunTests(rules.file, {});
//   for (const TestCase& test : report.tests)
//     if (!test.passed()) ...
#ifndef REKEY_ENGINE_SELFTEST_H_
#define REKEY_ENGINE_SELFTEST_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile.h"
#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct TestCase {
  std::string name;
  Span span;                // of the block
  Diagnostics diagnostics;  // why it failed; empty when it passed
  bool passed() const { return diagnostics.empty(); }
};

struct TestReport {
  Diagnostics diagnostics;      // the file itself does not compile: no test was run
  std::vector<TestCase> tests;  // in file order
  // Rules and edits of the file (not of its includes) that no test reached, in file order.
  std::vector<Span> uncovered;
  std::vector<std::shared_ptr<const ast::File>> files;  // that the spans point into
  bool passed() const;
};

struct TestOptions {
  std::vector<std::pair<std::string, std::string>> params;  // -p; a `with` of a test wins
};

TestReport RunTests(std::shared_ptr<const ast::File> file, const TestOptions& options);

}  // namespace rekey

#endif  // REKEY_ENGINE_SELFTEST_H_
