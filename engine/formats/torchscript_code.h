// Which attributes of a TorchScript class are parameters and buffers, read off its source.
//
// An archive keeps the code of each class beside the pickle, and in it the two lists that torch
// itself goes by:
//
//   class Linear(Module):
//     __parameters__ = ["weight", "bias", ]
//     __buffers__ = []
//
// Other tensors among the attributes are no part of the state. The text is searched for these
// lines; nothing is parsed further, nothing is run.
#ifndef REKEY_ENGINE_FORMATS_TORCHSCRIPT_CODE_H_
#define REKEY_ENGINE_FORMATS_TORCHSCRIPT_CODE_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rekey {

struct ScriptClass {
  bool is_module = false;
  std::vector<std::string> parameters;
  std::vector<std::string> buffers;
};

// By full name: "__torch__.torch.nn.modules.linear.Linear".
using ScriptClasses = std::unordered_map<std::string, ScriptClass>;

// Where the archive keeps the code of a class, below its root: "__torch__.a.b.C" stands in
// "code/__torch__/a/b.py".
std::string ScriptCodePath(std::string_view class_name);

// Adds the classes of one source file; `module` is "__torch__.a.b".
void AddScriptClasses(std::string_view source, std::string_view module, ScriptClasses& classes);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCHSCRIPT_CODE_H_
