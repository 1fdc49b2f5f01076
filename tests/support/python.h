// Runs a script of tests/support under REKEY_PYTHON and gives what it prints.
//
//   std::string json = RunPython("read_torch.py", path);
#ifndef REKEY_TESTS_SUPPORT_PYTHON_H_
#define REKEY_TESTS_SUPPORT_PYTHON_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace rekey {

inline std::string RunPython(const std::string& script, const std::string& arguments) {
  const char* python = std::getenv("REKEY_PYTHON");
  if (python == nullptr) {
    ADD_FAILURE() << "REKEY_PYTHON must name a Python that has torch and safetensors";
    return "{}";
  }
  const std::string command =
      std::string(python) + " " + REKEY_SOURCE_DIR + "/tests/support/" + script + " " + arguments;
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_PYTHON_H_
