import { isDeleting, type KubeObject, notOnboarded } from '../api/index.ts'
import type { Controller, ControllerContext } from '../engines/controller/index.ts'

/**
 * Has a controller work in namespaces only that let Berth in (decision 275). Objects elsewhere say what to do, and go on by themselves once it is
 * done. What is being deleted is let go in any case: in a namespace that goes, the role binding may go first.
 */
export const inOnboarded = <T extends KubeObject>(controller: Controller<T>, { caches }: ControllerContext): Controller<T> => ({
  ...controller,
  async reconcile(object, signal) {
    const { namespace = '' } = object.metadata
    if (!isDeleting(object) && !caches.isOpen(namespace)) throw notOnboarded(namespace)
    return controller.reconcile(object, signal)
  },
})
