/**
 * One tenant misbehaves, in every way that is known, all at once: `node hack/bench/hostile.ts [--count N]`, more by `--help`. Another tenant
 * pushes all the while; it prints how long each push took until it was live, beside the same pushes before the attack, and what the operator
 * and kas took of the memory that `deploy` gives them. It ends with 1 where one of them had more, or where pushes took two
 * seconds and more (99 of 100).
 */
import { HEAP_OF_LIMIT } from '../../test/support/shipped-limit.ts'
import { openSetup, type Setup } from './gitops/setup.ts'
import { together } from './hostile/together.ts'
import { playBench, type Scene } from './scenes.ts'

const scenes: Record<string, Scene<Setup>> = {
  together: { count: 100, about: "pushes of one tenant, beside all of another's attacks", play: together },
}

// As `deploy` has it.
process.env.MALLOC_ARENA_MAX = '1'

await playBench({
  command: 'hack/bench/hostile.ts',
  programs: 'the operator and kas',
  scenes,
  open: (running) => openSetup({ ...running, flags: [HEAP_OF_LIMIT, ...(running.flags ?? [])] }),
})
