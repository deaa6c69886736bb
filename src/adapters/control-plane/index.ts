/**
 * A real Kubernetes control plane on this machine: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and beside them
 * either kwok, which lets nodes and pods live without a kubelet, or a real node in namespaces of its own (node/, hack/node). kwok is
 * for most tests, the example provisioner and `berth up`; the node for `berth up --node`, test/e2e and, once it was made, the tour.
 * Not here: clients of the API (adapters/kube), and what is installed on it (the caller's kubectl).
 * Read acquire.ts (where the programs come from), then start.ts (how they run), servers/server.ts (how none is left behind).
 * programs/ and servers/ have what the control plane and the node are both got and run with.
 */
export { acquireTools, findSources, remediesFor, type ToolSource } from './acquire.ts'
export type { ServerName } from './flags.ts'
export { lastWords } from './last-words.ts'
export { NODE_ADDRESS } from './node/credentials.ts'
export { type DebianLock, readDebianLock, unpackDebian } from './node/debian.ts'
export { SAME_BYTES } from './node/images.ts'
export { whyNoNode } from './node/node.ts'
export { acquireNode, findNode, type NodePrograms } from './node/node-programs.ts'
export { holderOf, type PortHolder } from './port-holder.ts'
export { freePort, freePorts, isFree, isPort } from './ports.ts'
export { cacheFolder } from './programs/cache.ts'
export { type Recipe, readRecipe } from './programs/recipe.ts'
export { type ControlPlaneTools, type ProgressReport, TOOLS, type Tool, toolsIn } from './programs/tools.ts'
export { kubeconfigWith, MOST_UPTIME } from './servers/credentials.ts'
export { foreignFileIn, lockFolder, lockTakenFolder, makeFolder, removeFolder } from './servers/folder.ts'
export type { LockOptions } from './servers/lock.ts'
export { worksIn } from './servers/processes.ts'
export { endServer, launch, type Server } from './servers/server.ts'
export { type ControlPlane, loadImages, type Start, startControlPlane, stopControlPlane } from './start.ts'
export { nodesIn, statusOf } from './state.ts'
