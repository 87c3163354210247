/*
 * shared_memory.cpp: the shared variables of a block, between guards, and what is true of them.
 */
#include "common/emulator/emulator.h"

#include "common/emulator/emulator_state.h"
#include "common/emulator/races.h"

namespace emulated
{

void *shared_memory(const char *site, const char *name, size_t size)
{
    worker &w = *active;
    shared_allocation *found = nullptr;
    size_t total = size;

    for (const shared_allocation &s : w.shared)
        if (s.site == site && s.in_use)
            return s.memory;
    for (shared_allocation &s : w.shared) {
        if (s.site == site)
            found = &s;
        else if (s.in_use)
            total += s.size;
    }
    if (total > STATIC_SHARED_BYTES)
        fault("%zu bytes of __shared__ variables: at most %d", total, (int)STATIC_SHARED_BYTES);
    if (total + w.launch->site->shared_bytes > MOST_SHARED_BYTES)
        fault("%zu bytes of __shared__ variables and %zu of dynamic shared memory: at most %d together", total,
              w.launch->site->shared_bytes, (int)MOST_SHARED_BYTES);
    count_shared(total + w.launch->site->shared_bytes);
    if (found == nullptr) {
        w.shared.push_back({site, name, guarded_allocate(size), size, false});
        found = &w.shared.back();
        if (found->memory == nullptr)
            fault("no memory for %s", name);
    }
    fill_fresh_shared_memory(found->memory, size, &w.random);
    races_fresh(found->memory, size);
    found->in_use = true;
    return found->memory;
}

void *dynamic_shared_memory()
{
    return active->dynamic_memory;
}

const char *shared_name(const void *address, ptrdiff_t *offset)
{
    const char *const at = static_cast<const char *>(address);
    const auto holds = [&](const void *memory, size_t size) {
        *offset = memory == nullptr ? 0 : at - static_cast<const char *>(memory);
        return memory != nullptr && *offset >= -GUARD_BYTES && *offset < (ptrdiff_t)size + GUARD_BYTES;
    };

    for (const shared_allocation &s : active->shared)
        if (holds(s.memory, s.size))
            return s.name;
    return holds(active->dynamic_memory, active->launch->site->shared_bytes) ? "of dynamic size" : "";
}

bool check_shared_guards(worker &w)
{
    for (const shared_allocation &s : w.shared) {
        const ptrdiff_t offset = guarded_damage(s.memory, s.size);

        if (offset != 0) {
            keep_message("", formatted(": a thread wrote outside of the shared variable %s (%zu bytes) at byte %td",
                                       s.name, s.size, offset));
            return false;
        }
    }
    if (w.dynamic_memory != nullptr) {
        const ptrdiff_t offset = guarded_damage(w.dynamic_memory, w.launch->site->shared_bytes);

        if (offset != 0) {
            keep_message("", formatted(": a thread wrote outside of the %zu bytes of dynamic shared memory at byte %td",
                                       w.launch->site->shared_bytes, offset));
            return false;
        }
    }
    return true;
}

void forget_shared_memory(worker &w)
{
    for (const shared_allocation &s : w.shared)
        if (s.in_use)
            fill_with_garbage(s.memory, s.size, &w.random);
    if (w.dynamic_memory != nullptr)
        fill_with_garbage(w.dynamic_memory, w.launch->site->shared_bytes, &w.random);
}

} /* namespace emulated */
