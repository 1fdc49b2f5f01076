"""`cmake --install` gives a program that finds its packs, and libraries for find_package(rekey)."""

import os
import pathlib
import subprocess

CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(rekey 0.1 REQUIRED)
add_executable(consumer consumer.cc)
target_link_libraries(consumer PRIVATE rekey::rekey_engine)
"""

PROGRAM = """
#include <iostream>
#include <memory>

#include "engine/catalog.h"
#include "engine/compile.h"
#include "engine/plan.h"
#include "grammar/parser.h"

int main() {
  auto source = std::make_shared<rekey::Source>("inline", "strip \\"module.\\"\\n");
  auto file = std::make_shared<rekey::ast::File>(rekey::Parse(source).file);
  rekey::Compiled compiled = rekey::Compile(file, {});
  rekey::Catalog catalog;
  rekey::Entry entry;
  entry.key = catalog.text->Add("module.fc.weight");
  entry.shape = {2};
  entry.strides = {1};
  catalog.storages.push_back({});
  catalog.storages[0].bytes = catalog.storages[0].stored_bytes = 8;
  catalog.entries.push_back(entry);
  rekey::Plan plan = rekey::MakePlan(*compiled.program, catalog, {});
  std::cout << plan.rewritten.outputs[0].key << "\\n";
}
"""


def run(*words, **more):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_install(tmp_path):
    prefix = tmp_path / "prefix"
    run("cmake", "--install", os.environ["REKEY_BUILD_DIR"], "--prefix", prefix)
    program = prefix / "bin/rekey"
    clean = {k: v for k, v in os.environ.items() if k != "REKEY_RULES"}
    assert "common/unwrap" in run(program, "packs", env=clean)

    consumer = tmp_path / "consumer"
    consumer.mkdir()
    (consumer / "CMakeLists.txt").write_text(CMAKE)
    (consumer / "consumer.cc").write_text(PROGRAM)
    run("cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", consumer / "build")
    assert run(consumer / "build/consumer") == "fc.weight\n"


def test_every_public_header_stands_alone(tmp_path):
    root = pathlib.Path(os.environ["REKEY_SOURCE_DIR"])
    headers = sorted([*root.glob("grammar/*.h"), *root.glob("engine/**/*.h")])
    inside = {"grammar/grammar.h", "grammar/messages.h"}  # PEGTL's, for parser.cc alone
    source = tmp_path / "all.cc"
    names = [str(header.relative_to(root)) for header in headers]
    source.write_text("".join(f'#include "{name}"\n' for name in names if name not in inside))
    run("c++", "-std=c++20", "-fsyntax-only", f"-I{root}", source)
