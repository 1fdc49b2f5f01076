// Programs from rule text and catalogs with a storage for each tensor, for tests of the plan.
//
//   Catalog catalog = CatalogOf({{"module.fc.weight", {2, 3}}});
//   Program program = CompileText("strip \"module.\"");
#ifndef REKEY_TESTS_SUPPORT_PROGRAMS_H_
#define REKEY_TESTS_SUPPORT_PROGRAMS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile.h"
#include "grammar/parser.h"

namespace rekey {

struct TestTensor {
  std::string key;
  Shape shape = {};
  DType dtype = DType::kF32;
};

// Each tensor has a storage of its own, one after another in a file that is not there.
inline Catalog CatalogOf(const std::vector<TestTensor>& tensors) {
  Catalog catalog;
  catalog.format = "safetensors";
  catalog.files.push_back({"in.safetensors", "in.safetensors", 0, 0, 0, 0});
  uint64_t offset = 4096;
  for (const TestTensor& tensor : tensors) {
    Entry entry;
    entry.key = catalog.text->Add(tensor.key);
    entry.dtype = tensor.dtype;
    entry.shape = tensor.shape;
    entry.strides = ContiguousStrides(tensor.shape);
    entry.storage = static_cast<uint32_t>(catalog.storages.size());
    Storage storage;
    storage.offset = offset;
    storage.bytes = storage.stored_bytes = DataBytes(entry);
    offset += storage.bytes;
    catalog.storages.push_back(storage);
    catalog.entries.push_back(std::move(entry));
  }
  return catalog;
}

inline std::string InWords(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += Render(diagnostic, false);
  return text;
}

inline std::shared_ptr<const ast::File> ParseText(const std::string& text) {
  ParseResult parsed = Parse(std::make_shared<Source>("test.rekey", text));
  EXPECT_FALSE(HasErrors(parsed.diagnostics)) << InWords(parsed.diagnostics);
  return std::make_shared<ast::File>(std::move(parsed.file));
}

// The program of a text that must compile; an empty one, after a failure, if it does not.
inline Program CompileText(const std::string& text, const CompileOptions& options = {}) {
  Compiled compiled = Compile(ParseText(text), options);
  EXPECT_FALSE(HasErrors(compiled.diagnostics)) << InWords(compiled.diagnostics);
  if (compiled.program) return std::move(*compiled.program);
  ADD_FAILURE() << "no program";
  Program none;
  none.passes.emplace_back();
  return none;
}

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_PROGRAMS_H_
