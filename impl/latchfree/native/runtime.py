"""The few functions of numba's runtime that kernels need, in LLVM's language: memory for arrays.

A kernel that makes an array asks for a record with the array's data behind it, and gives the record back when it is
done. One that assigns a row of an array to another row asks for plain memory, as the rows may overlap. Numba's own
functions are in its extension module, which a library must do without.

No kernel raises: what numba would call to raise says so and ends the process, as running out of memory does.
"""

from typing import Final

RUNTIME: Final = r"""
declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare void @abort() noreturn
declare i64 @write(i32, ptr, i64)

@latchfree.full = constant [48 x i8] c"latchfree: out of memory in compiled functions.\0A"
@latchfree.raised = constant [63 x i8] c"latchfree: a compiled function raised; this is a defect of it.\0A"

; The record: count of references, destructor, its argument, data, size, allocator.
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %head = add i64 %wide, 48
  %all = add i64 %size, %head
  %record = call ptr @NRT_Allocate(i64 %all)
  %start = ptrtoint ptr %record to i64
  %past = add i64 %start, %head
  %less = sub i64 %wide, 1
  %mask = xor i64 %less, -1
  %data = and i64 %past, %mask
  store i64 1, ptr %record
  %dtor = getelementptr i64, ptr %record, i64 1
  store i64 0, ptr %dtor
  %info = getelementptr i64, ptr %record, i64 2
  store i64 0, ptr %info
  %at = getelementptr i64, ptr %record, i64 3
  store i64 %data, ptr %at
  %length = getelementptr i64, ptr %record, i64 4
  store i64 %size, ptr %length
  %source = getelementptr i64, ptr %record, i64 5
  store i64 0, ptr %source
  ret ptr %record
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %record = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %record
}

; In line, where LLVM sees that arrays in buffers of others have no record; numba's own are calls, two for each element.
define void @NRT_incref(ptr %record) alwaysinline {
  %none = icmp eq ptr %record, null
  br i1 %none, label %done, label %count
count:
  %before = atomicrmw add ptr %record, i64 1 monotonic
  br label %done
done:
  ret void
}

define void @NRT_decref(ptr %record) alwaysinline {
  %none = icmp eq ptr %record, null
  br i1 %none, label %done, label %count
count:
  %before = atomicrmw sub ptr %record, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %free, label %done
free:
  call void @NRT_MemInfo_call_dtor(ptr %record)
  br label %done
done:
  ret void
}

define void @NRT_MemInfo_call_dtor(ptr %record) {
  call void @free(ptr %record)
  ret void
}

define ptr @NRT_Allocate(i64 %size) {
  %made = call ptr @malloc(i64 %size)
  %none = icmp eq ptr %made, null
  br i1 %none, label %full, label %done
full:
  %said = call i64 @write(i32 2, ptr @latchfree.full, i64 48)
  call void @abort()
  unreachable
done:
  ret ptr %made
}

define void @NRT_Free(ptr %made) {
  call void @free(ptr %made)
  ret void
}

define void @numba_gil_ensure(ptr %state) noreturn {
  %said = call i64 @write(i32 2, ptr @latchfree.raised, i64 63)
  call void @abort()
  unreachable
}
"""
