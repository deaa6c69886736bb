import type { Cache, Caches } from '../adapters/kube/index.ts'
import { isDeleting, type KubeObject, notOnboarded, type Ref, refOf } from '../api/index.ts'
import type { Controller, Workshop } from '../engines/controller/index.ts'

/**
 * Has a controller work in namespaces only that let Berth in (ADR 275). Objects elsewhere say what to do, and go on by themselves once it is
 * done. What is being deleted is let go in any case: in a namespace that goes, the role binding may go first.
 */
export function inOnboarded<T extends KubeObject>(controller: Controller<T>, { caches }: Workshop): Controller<T> {
  const objects = caches.of(controller.kind, { labels: controller.labels })
  return {
    ...controller,
    async reconcile(object, signal) {
      const { namespace = '' } = object.metadata
      if (!isDeleting(object) && !caches.isOpen(namespace)) throw notOnboarded(namespace)
      return controller.reconcile(object, signal)
    },
    doorbell(ring, signal) {
      ringWhenOpened(objects, caches, ring)
      controller.doorbell?.(ring, signal)
    },
  }
}

/** Has the objects of a namespace looked at when it lets Berth in, and when it does so no more. */
export function ringWhenOpened(objects: Cache<KubeObject>, caches: Caches, ring: (ref: Ref) => void): void {
  caches.onOpen((namespace) => {
    for (const object of objects.in(namespace)) ring(refOf(object))
  })
}
