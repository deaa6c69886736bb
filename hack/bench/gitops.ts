/**
 * GitOps: `node hack/bench/gitops.ts [scene …] [--count N]`, more by `--help`. Each scene has a control plane, a Git server, kas and
 * the operator of its own, as processes; it prints its figures and beside them the floor, measured in the same run: the same
 * objects applied by a bare loop with the same client, the same tenants and the same concurrency.
 */
import { commits } from './gitops/commits.ts'
import { crash } from './gitops/crash.ts'
import { crs } from './gitops/crs.ts'
import { large } from './gitops/large.ts'
import { many } from './gitops/many.ts'
import { overlays } from './gitops/overlays.ts'
import { paths } from './gitops/paths.ts'
import { previews } from './gitops/previews.ts'
import { sets } from './gitops/sets.ts'
import { openSetup, type Setup } from './gitops/setup.ts'
import { playBench, type Scene } from './scenes.ts'

const scenes: Record<string, Scene<Setup>> = {
  many: { count: 1000, about: 'syncs of four objects, each as another tenant, created at once', play: many },
  large: { count: 10_000, about: 'ConfigMaps in one sync: first time, at rest, one line, edits by hand', play: large },
  commits: { count: 100, about: 'commits in quick succession', play: commits },
  crs: { count: 3000, about: 'resources and their CRD in one commit', play: crs },
  paths: { count: 500, about: 'paths of one repository with 50,000 files, and a commit that touches one', play: paths },
  overlays: { count: 500, about: 'kustomize overlays at once, and a commit that touches the base of ten', play: overlays },
  sets: { count: 1000, about: 'GitOpsDeployments of one GitOpsDeploymentSet: made, changed, and at rest', play: sets },
  previews: { count: 50, about: 'branches with an environment each: pushed until healthy, deleted until gone', play: previews },
  crash: { count: 10_000, about: 'objects in one sync, and a kill -9 half way', play: crash },
}

await playBench({ command: 'hack/bench/gitops.ts', programs: 'the operator and kas', scenes, open: openSetup })
