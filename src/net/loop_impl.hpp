// What a Loop is made of; only for the .cpp files of this module.
#pragma once

#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "net/loop.hpp"

namespace headroom::net {

struct Loop::Impl {
  explicit Impl(int thread_count) : context(thread_count), work(context.get_executor()) {}
  boost::asio::io_context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  std::vector<std::jthread> threads;
};

}  // namespace headroom::net
