import { createSender } from '../../adapters/http/index.ts'
import type { Reach } from '../../adapters/kube/index.ts'
import { byUid, type GitOpsDeployment, GitOpsDeployments, keyOf, type Ref } from '../../api/index.ts'
import { type Controller, settled, type Workshop } from '../../engines/controller/index.ts'
import { createLedgers, createWants, noMeter } from '../../engines/gitops/index.ts'
import type { Render } from '../../engines/render/index.ts'
import { minutes, type ReadYaml } from '../../std/index.ts'
import { createAllotments } from './allotments.ts'
import { openBooks } from './books.ts'
import { createFollowing, type Source } from './following.ts'
import { inHiding } from './hidden.ts'
import type { GitOpsMeter } from './meter.ts'
import { createNotifier } from './notifier.ts'
import { reconcileDeployment } from './reconcile.ts'
import { releaseFormer } from './removal.ts'
import { NAME, rememberedRules, type Shop } from './shop.ts'
import { statusFor } from './status.ts'
import { createTargets, keepTidy, targetsIn, tenantOf } from './targets.ts'
import { createVariableMemory, createVariableReader } from './variables.ts'
import { watchesOf } from './watches.ts'
import { rememberedOpenings } from './windows.ts'

export interface GitOpsSettings {
  /** Where commits come from: the object stream of kas. */
  source: Source
  /** One for all, dry runs too: it says how many kustomizations are built at once. */
  render: Render
  /** The one that `render` has: each is a thread. */
  yaml?: ReadYaml
  /** Where managed environments may lead; everywhere without it. */
  reach?: Reach
  /** Watches on deployed objects that are open at once; beyond it, objects are compared each interval. */
  mostWatches?: number | undefined
  /** Objects of all deployments of one namespace; MOST_OBJECTS without it. */
  mostObjects?: number | undefined
  /** Mebibytes of files that all deployments of one namespace follow. */
  mostFiles?: number | undefined
  /** Whether spec.dependsOn may name another namespace. */
  crossNamespace?: boolean
  meter?: GitOpsMeter
}

/** Each is kept with what it should be, and with what is seen of it. */
const MOST_OBJECTS = 100_000

/** Applies what repositories say, in the destination and as the tenant that each GitOpsDeployment names. */
export function gitopsDeployments(workshop: Workshop, settings: GitOpsSettings): Controller<GitOpsDeployment> {
  const { source, render, yaml, reach, mostWatches } = settings
  const books = openBooks(workshop)
  const meter = settings.meter ?? { ...noMeter, watches: () => undefined }
  const waited = (milliseconds: number) => meter.took('source', milliseconds)
  const following = createFollowing({ source, clock: workshop.clock, yaml, waited, mostFiles: settings.mostFiles })
  const targets = createTargets(reach)
  const variables = createVariableReader(workshop.kube, workshop.clock, createVariableMemory())
  const { clock, log } = workshop
  const ledgers = createLedgers({ clock, log, mostWatches })
  meter.watches(() => ledgers.watches)
  const notifier = createNotifier({
    workshop,
    send: createSender({ allowLocal: reach?.refuseLocal !== true }),
    asTenant: (deployment) => targets.as(workshop.kube, tenantOf(deployment)),
  })
  const shop: Shop = {
    workshop,
    books,
    following,
    targets,
    crossNamespace: settings.crossNamespace === true,
    render,
    objects: createAllotments(settings.mostObjects ?? MOST_OBJECTS),
    variables,
    rules: rememberedRules(workshop.clock),
    findOpening: rememberedOpenings(),
    notes: new Map(),
    seen: new Map(),
    arrivals: new Map(),
    ledgers,
    meter,
    wants: createWants({ clock, exists: (uid) => books.deployments.by(byUid, uid).length > 0 }),
    ring: () => undefined,
  }
  return {
    name: NAME,
    kind: GitOpsDeployments,
    // Tens of thousands of objects are applied in one go.
    limit: minutes(15),
    watches: watchesOf(books),
    reconcile(deployment, signal) {
      notifier.look(deployment)
      return inHiding(deployment, shop, (hidden) => reconcileDeployment(deployment, hidden, signal))
    },
    doorbell(ring, signal) {
      shop.ring = ring
      following.ringing(ring, signal)
      void keepTidy(targets, { clock, used: () => targetsIn(books) }, signal)
      const close = () => {
        shop.ledgers.close()
        notifier.close()
      }
      signal.addEventListener('abort', close, { once: true })
    },
    async gone(ref, signal) {
      forget(ref, shop)
      notifier.forget(ref)
      await releaseFormer(ref, undefined, shop, signal)
      return settled()
    },
    failed: (deployment, failure) => statusFor(deployment, failure, shop.arrivals.get(keyOf(deployment.metadata))?.commitId),
  }
}

/** Also what another deployment of that name left. */
function forget(ref: Ref, { following, objects, notes, arrivals, variables, ledgers, wants }: Shop): void {
  const key = keyOf(ref)
  const uid = notes.get(key)?.uid
  following.end(ref)
  objects.release(key)
  notes.delete(key)
  arrivals.delete(key)
  variables.drop(key)
  if (uid === undefined) return
  ledgers.end(uid)
  wants.withdraw(uid)
}
