#include "repl/kernel/server.h"

#include <chrono>
#include <thread>
#include <zmq.hpp>

namespace tercet {

/// "Run all" sends cells one by one: those that are on their way when one fails belong to the queue as well.
constexpr auto queue_delay = std::chrono::milliseconds(20);

void KernelServer::send_control_impl(xeus::xmessage reply) {
  if (reply.header().value("msg_type", "") == "interrupt_reply" && on_interrupt) on_interrupt();
  xserver_shell_main::send_control_impl(std::move(reply));
}

void KernelServer::abort_queue_impl(const listener& abort, long) {
  std::this_thread::sleep_for(queue_delay);
  aborting_ = true;
  xserver_shell_main::abort_queue_impl(abort, 0);
  aborting_ = false;
}

void KernelServer::send_shell_impl(xeus::xmessage reply) {
  if (!aborting_) return xserver_shell_main::send_shell_impl(std::move(reply));
  publish_status(reply, "busy");
  xserver_shell_main::send_shell_impl(
      xeus::xmessage(reply.identities(), reply.header(), reply.parent_header(), reply.metadata(), {{"status", "aborted"}}, {}));
  publish_status(reply, "idle");
}

void KernelServer::publish_status(const xeus::xmessage& reply, const char* status) {
  nl::json header = xeus::make_header("status", reply.header().value("username", ""), reply.header().value("session", ""));
  nl::json content = {{"execution_state", status}};
  publish_impl(xeus::xpub_message("status", std::move(header), reply.parent_header(), nl::json::object(), std::move(content), {}),
               xeus::channel::SHELL);
}

std::unique_ptr<xeus::xserver> make_kernel_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                                  nl::json::error_handler_t on_bad_text) {
  return std::make_unique<KernelServer>(context.get_wrapped_context<zmq::context_t>(), config, on_bad_text);
}

}  // namespace tercet
