/**
 * One tenant misbehaves, in every way that is known, all at once: `node hack/bench/hostile.ts [--count N]`, more by `--help`. Another tenant
 * pushes all the while; it prints how long each push took until it was live, beside the same pushes before the attack, and what the operator
 * and kas took of the memory that `deploy` gives them. Each of them runs in a container with that limit, as far as memory goes; where the
 * machine has none, with the heap that Node takes in one, and it says so. It ends with 1 where one of them had more, or where pushes took
 * two seconds and more (99 of 100).
 */
import { HEAP_OF_LIMIT } from '../../test/support/shipped-limit.ts'
import { openSetup, type Setup } from './gitops/setup.ts'
import { createContainers } from './hostile/containers.ts'
import { together } from './hostile/together.ts'
import { playBench, type Scene } from './scenes.ts'

const containers = createContainers()
if (!containers) process.stdout.write('not in containers, which need root and cgroup v1: with their heap only\n')

const scenes: Record<string, Scene<Setup>> = {
  together: {
    count: 100,
    about: "pushes of one tenant, beside all of another's attacks",
    play: (setup, count) => together(setup, containers, count),
  },
}

// As `deploy` has it.
process.env.MALLOC_ARENA_MAX = '1'

await playBench({
  command: 'hack/bench/hostile.ts',
  programs: 'the operator and kas',
  scenes,
  open: ({ flags = [], ...running }) =>
    openSetup({ ...running, ...(containers ? { flags, enter: containers.enter } : { flags: [HEAP_OF_LIMIT, ...flags] }) }),
})
await containers?.remove()
