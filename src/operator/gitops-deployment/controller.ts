import { createSender } from '../../adapters/http/index.ts'
import { byUid, type GitOpsDeployment, GitOpsDeployments, keyOf, type Ref } from '../../api/index.ts'
import { type Controller, type ControllerContext, createWakeups, settled } from '../../engines/controller/index.ts'
import { createSyncMemories, createTellSync, createWants } from '../../engines/gitops/index.ts'
import { minutes, silentTracer } from '../../std/index.ts'
import { createNotifier } from './notify/notifier.ts'
import { withSecretsMasked } from './pass/masked.ts'
import { createWakeIn, promotionWhileFailing } from './promotion/promotion.ts'
import { reconcileDeployment } from './reconcile.ts'
import { releaseFormer } from './removal/removal.ts'
import { rememberedOpenings } from './schedule/windows.ts'
import { createDecryptionReader } from './services/decryptions.ts'
import { type GitOpsSettings, NAME, rememberedRules, type SyncServices } from './services/services.ts'
import { createTargets, keepTidy, targetsIn, tenantOf } from './services/targets.ts'
import { createVariableMemory, createVariableReader, SOURCES_PACE } from './services/variables.ts'
import { createAllotments } from './source/allotments.ts'
import { createFollowing, MOST_FILES } from './source/following.ts'
import { statusFor } from './status/status.ts'
import { followSources, openCaches, versionsOfSources, watchesOf } from './watch/caches.ts'

/** Each is kept with what it should be, and with what is seen of it. */
const MOST_OBJECTS = 100_000

/** Applies what repositories say, in the destination and as the tenant that each GitOpsDeployment names. */
export function gitopsDeployments(context: ControllerContext, settings: GitOpsSettings): Controller<GitOpsDeployment> {
  const { source, render, yaml, reach, mostWatches, tracer = silentTracer } = settings
  const { clock, log } = context
  const caches = openCaches(context)
  const { meter } = settings
  const waited = (milliseconds: number) => meter?.took('source', milliseconds)
  const targets = createTargets(reach)
  const wakeups = createWakeups(({ signal }) => void keepTidy(targets, { clock, used: () => targetsIn(caches) }, signal))
  const following = createFollowing({ source, clock, wakeups, yaml, waited, mostFiles: settings.mostFiles })
  const versionsOf = (deployment: GitOpsDeployment) => versionsOfSources(deployment, caches)
  const variables = createVariableReader({
    kube: context.kube,
    clock,
    memory: createVariableMemory(),
    versionsOf,
    yaml,
  })
  followSources(caches, wakeups, { clock, pace: SOURCES_PACE })
  const memories = createSyncMemories({ clock, log, mostWatches })
  meter?.watches(() => memories.watches)
  const notifier = createNotifier({
    context,
    send: createSender({ allowLocal: reach?.refuseLocal !== true }),
    asTenant: (deployment) => targets.as(context.kube, tenantOf(deployment)),
  })
  const services: SyncServices = {
    context,
    caches,
    following,
    targets,
    crossNamespace: settings.crossNamespace === true,
    render,
    objects: createAllotments(settings.mostObjects ?? MOST_OBJECTS),
    made: createAllotments((settings.mostFiles ?? MOST_FILES) * 2 ** 20),
    variables,
    decryptions: createDecryptionReader(context.kube, clock, versionsOf),
    rules: rememberedRules(clock),
    findOpening: rememberedOpenings(),
    lastPasses: new Map(),
    seen: new Map(),
    arrivals: new Map(),
    memories,
    meter,
    tracer,
    tellSync: createTellSync({ log, tracer }),
    wants: createWants({ clock, exists: (uid) => caches.deployments.by(byUid, uid).length > 0 }),
    wakeups,
    wakeIn: createWakeIn(wakeups, clock),
  }
  const close = () => {
    memories.close()
    notifier.close()
  }
  wakeups.signal.addEventListener('abort', close, { once: true })
  return {
    name: NAME,
    kind: GitOpsDeployments,
    // Tens of thousands of objects are applied in one go.
    limit: minutes(15),
    watches: watchesOf(caches),
    reconcile(deployment, signal) {
      notifier.look(deployment)
      return withSecretsMasked(deployment, services, (hidden) => reconcileDeployment(deployment, hidden, signal))
    },
    wakeups,
    async gone(ref, signal) {
      forget(ref, services)
      notifier.forget(ref)
      await releaseFormer(ref, undefined, services, signal)
      return settled()
    },
    failed: (deployment, failure) => ({
      ...statusFor(deployment, failure, services.arrivals.get(keyOf(deployment.metadata))),
      ...promotionWhileFailing(deployment, services),
    }),
  }
}

/** Also what another deployment of that name left. */
function forget(
  ref: Ref,
  { following, objects, made, lastPasses, arrivals, variables, decryptions, memories, wants }: SyncServices,
): void {
  const key = keyOf(ref)
  const uid = lastPasses.get(key)?.uid
  following.end(ref)
  objects.release(key)
  made.release(key)
  lastPasses.delete(key)
  arrivals.delete(key)
  variables.drop(key)
  decryptions.drop(key)
  if (uid === undefined) return
  memories.end(uid)
  wants.withdraw(uid)
}
