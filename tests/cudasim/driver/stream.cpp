// Streams and events. A stream is a queue of work; each piece knows how far other streams must be before it may run.
// Eager streams run their work at once. Lazy ones run it when somebody waits, and then no more than was waited for: what
// a program reads before it has waited is not there, and what it changes too early arrives changed.
#include "sim.h"

namespace sim {

void enqueue(const std::shared_ptr<Stream> &stream, std::function<void()> run) {
  Context &context = *stream->context;
  Work work{std::move(run), {}};
  // The default stream waits for all blocking streams, and they for it.
  if (stream == context.standard) {
    for (const auto &[key, other] : context.streams)
      if (other->blocking) work.after.emplace_back(other, other->enqueued);
  } else if (stream->blocking) {
    work.after.emplace_back(context.standard, context.standard->enqueued);
  }
  stream->queue.push_back(std::move(work));
  ++stream->enqueued;
  if (!settings().lazy) finish(stream);
}

void finish(const std::shared_ptr<Stream> &stream, uint64_t place) {
  while (stream->done < place) {
    const Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (const auto &[other, far] : work.after) finish(other, far);
    if (!stream->context->error) work.run();  // a failed context's work is dropped
    ++stream->done;
  }
}

void finish(const std::shared_ptr<Stream> &stream) { finish(stream, stream->enqueued); }

void finish(Context &context) {
  finish(context.standard);
  for (const auto &[key, stream] : context.streams) finish(stream);
}

std::shared_ptr<Stream> stream_of(Context &context, CUstream handle) {
  if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) return context.standard;
  const auto found = context.streams.find(reinterpret_cast<Stream *>(handle));
  return found == context.streams.end() ? nullptr : found->second;
}

namespace {

Event *known(Context &context, CUevent handle) {
  Event *event = reinterpret_cast<Event *>(handle);
  return context.events.count(event) ? event : nullptr;
}

// Where a query finds work that is not done it says so, once: the next query finds it done.
CUresult query(Context &context, const std::shared_ptr<Stream> &stream, uint64_t place) {
  if (stream->done >= place) return CUDA_SUCCESS;
  finish(stream, place);
  return context.error ? context.error : CUDA_ERROR_NOT_READY;
}

}  // namespace
}  // namespace sim

using namespace sim;

// ---------------------------------------------------------------- streams

EXPORT CUresult cuStreamCreate(CUstream *out, unsigned flags) {
  return in_context([&](Context &c) {
    auto stream = std::make_shared<Stream>(Stream{&c, !(flags & CU_STREAM_NON_BLOCKING)});
    c.streams[stream.get()] = stream;
    *out = reinterpret_cast<CUstream>(stream.get());
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int) { return cuStreamCreate(out, flags); }

EXPORT CUresult cuStreamDestroy(CUstream handle) {
  return in_context([&](Context &c) {
    const auto stream = stream_of(c, handle);
    if (!stream || stream == c.standard) return CUDA_ERROR_INVALID_HANDLE;
    finish(stream);
    c.streams.erase(stream.get());
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  return waiting([&](Context &c) {
    const auto stream = stream_of(c, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    // Waiting for the default stream is waiting for the streams that it waits for.
    if (stream == c.standard)
      for (const auto &[key, other] : c.streams)
        if (other->blocking) finish(other);
    finish(stream);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuStreamQuery(CUstream handle) {
  return waiting([&](Context &c) {
    const auto stream = stream_of(c, handle);
    return stream ? query(c, stream, stream->enqueued) : CUDA_ERROR_INVALID_HANDLE;
  });
}

EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned) {
  return in_context([&](Context &c) {
    const auto stream = stream_of(c, handle);
    const Event *event = known(c, event_handle);
    if (!stream || !event) return CUDA_ERROR_INVALID_HANDLE;
    if (!event->mark) return CUDA_SUCCESS;
    const auto mark = event->mark;
    enqueue(stream, [mark] { finish(mark->stream, mark->place); });
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  return in_context([&](Context &c) {
    const auto stream = stream_of(c, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *flags = stream->blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuStreamGetPriority(CUstream, int *priority) {
  return in_context([&](Context &) { return *priority = 0, CUDA_SUCCESS; });
}

EXPORT CUresult cuStreamGetCtx(CUstream, CUcontext *out) {
  return in_context([&](Context &c) { return *out = reinterpret_cast<CUcontext>(&c), CUDA_SUCCESS; });
}

EXPORT CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  return in_context([&](Context &c) {
    const auto stream = stream_of(c, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    enqueue(stream, [=] { function(data); });
    return CUDA_SUCCESS;
  });
}

// ---------------------------------------------------------------- events

EXPORT CUresult cuEventCreate(CUevent *out, unsigned flags) {
  return in_context([&](Context &c) {
    Event *event = new Event{&c, !(flags & CU_EVENT_DISABLE_TIMING), nullptr};
    c.events.insert(event);
    *out = reinterpret_cast<CUevent>(event);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuEventDestroy(CUevent handle) {
  return in_context([&](Context &c) {
    Event *event = known(c, handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    c.events.erase(event);
    delete event;
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return in_context([&](Context &c) {
    Event *event = known(c, handle);
    const auto stream = stream_of(c, stream_handle);
    if (!event || !stream) return CUDA_ERROR_INVALID_HANDLE;
    const auto mark = std::make_shared<Mark>(Mark{stream, stream->enqueued + 1, {}});
    event->mark = mark;
    enqueue(stream, [mark] { mark->when = std::chrono::steady_clock::now(); });
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) { return cuEventRecord(event, stream); }

EXPORT CUresult cuEventSynchronize(CUevent handle) {
  return waiting([&](Context &c) {
    Event *event = known(c, handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (event->mark) finish(event->mark->stream, event->mark->place);
    return CUDA_SUCCESS;
  });
}

EXPORT CUresult cuEventQuery(CUevent handle) {
  return waiting([&](Context &c) {
    Event *event = known(c, handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    return event->mark ? query(c, event->mark->stream, event->mark->place) : CUDA_SUCCESS;
  });
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  return in_context([&](Context &c) {
    const Event *start = known(c, from), *end = known(c, to);
    if (!start || !end || !start->timed || !end->timed || !start->mark || !end->mark) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->mark->done() || !end->mark->done()) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->mark->when - start->mark->when).count();
    return CUDA_SUCCESS;
  });
}
