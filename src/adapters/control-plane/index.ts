/**
 * A real Kubernetes control plane on this machine: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok,
 * which lets nodes and pods live without a kubelet. For the tour, `berth up`, the tests and the example provisioner.
 * Not here: clients of the API (adapters/kube), and what is installed on it (the caller's kubectl).
 * Read acquire.ts (where the programs come from), then start.ts (how they run), server.ts (how none is left behind).
 */
export { acquireTools, findSources, remediesFor, type ToolSource } from './acquire.ts'
export { kubeconfigWith } from './credentials.ts'
export { NODE_ADDRESS, type ServerName } from './flags.ts'
export { foreignFileIn, lockFolder, lockTakenFolder, makeFolder, removeFolder } from './folder.ts'
export { lastWords } from './last-words.ts'
export type { LockOptions } from './lock.ts'
export { whyNoNode } from './node/node.ts'
export { acquireNode, findNode, type NodePrograms } from './node/node-programs.ts'
export { freePort } from './ports.ts'
export { worksIn } from './processes.ts'
export { type Recipe, readRecipe } from './recipe.ts'
export { endServer, launch, type Server } from './server.ts'
export { type ControlPlane, type Start, startControlPlane, stopControlPlane } from './start.ts'
export { statusOf } from './state.ts'
export { type ControlPlaneTools, type ProgressReport, TOOLS, type Tool, toolsIn } from './tools.ts'
