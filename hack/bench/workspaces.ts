/**
 * Workspaces: `node hack/bench/workspaces.ts [scene …] [--count N]`, more by `--help`. Each scene has a control plane with pods that
 * are played, and the operator as a process of its own; where it makes sense it prints the floor, measured in the same run: the same
 * objects applied by a bare loop with the same client.
 */
import { playBench, type Scene } from './scenes.ts'
import { burst } from './workspaces/burst.ts'
import { createdApart, createdInOne } from './workspaces/created.ts'
import { openSetup, type Setup } from './workspaces/setup.ts'
import { stopped } from './workspaces/stopped.ts'
import { together } from './workspaces/together.ts'
import { variables } from './workspaces/variables.ts'

const scenes: Record<string, Scene<Setup>> = {
  created: { count: 1500, about: 'workspaces in one namespace, 12.5 in each second, then deleted', play: createdInOne },
  apart: { count: 1500, about: 'the same, in a namespace each', play: createdApart },
  together: { count: 100, about: 'workspaces created, stopped and started at once', play: together },
  stopped: { count: 5000, about: 'stopped workspaces, and a restart of the operator', play: stopped },
  burst: { count: 2000, about: 'pod events as fast as they can be made', play: burst },
  variables: { count: 100, about: 'workspaces with twenty variables each', play: variables },
}

await playBench({ command: 'hack/bench/workspaces.ts', programs: 'the operator', scenes, open: openSetup })
