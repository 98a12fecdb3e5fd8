// Runtime: the Common Runtime's libraries, event loops, name resolver and TLS context, started and stopped as
// one.
//
// Makes no request itself. Make one per process, before other threads start, and destroy it after every
// Transport and Invoker that uses it. Thread safety: construction and destruction on one thread; the object
// is shared otherwise. Callbacks of src/aws run on the loop threads made here and must never block or throw.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.hpp"

namespace headroom::aws {

struct RuntimeOptions {
  std::size_t loops = 1;  // event loop threads
  // The kernel stalls a threaded process 7 to 15 ms each time its descriptor table doubles; the table is
  // grown to this many descriptors (within the process's limit) before the first thread starts. 0 leaves it
  // as it is.
  std::size_t descriptors = 4096;
  bool trace_memory = false;  // tests: count every byte that the libraries hold
};

class Runtime {
 public:
  // kInternal if the libraries cannot start.
  static base::Result<std::unique_ptr<Runtime>> start(const RuntimeOptions& options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Stops everything and returns the bytes still held (0 unless something leaks); 0 without trace_memory.
  static std::size_t stop(std::unique_ptr<Runtime> runtime);

  struct Impl;  // defined in crt.hpp, inside src/aws only
  Impl& impl() { return *impl_; }

 private:
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom::aws
