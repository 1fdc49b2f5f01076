// Runs the tests' Python, which has torch: REKEY_PYTHON in the environment.
//
//   RunPython("tests/support/write_pickles.py", {folder.path()});
#ifndef REKEY_TESTS_SUPPORT_PYTHON_H_
#define REKEY_TESTS_SUPPORT_PYTHON_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace rekey {

// What the script (its path in the sources) printed. Fails the test if it does.
inline std::string RunPython(const std::string& script, const std::vector<std::string>& arguments) {
  const char* python = std::getenv("REKEY_PYTHON");
  if (python == nullptr) {
    ADD_FAILURE() << "REKEY_PYTHON must name a Python that has torch";
    return "";
  }
  std::string command = std::string(python) + " " + REKEY_SOURCE_DIR + "/" + script;
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run " << command;
    return "";
  }
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_PYTHON_H_
