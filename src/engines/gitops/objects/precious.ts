/** Kinds with whose objects goes everything that is in them: `group/Kind`. No annotation is worth that. */
export const HOLDS_OTHERS: readonly string[] = ['apiextensions.k8s.io/CustomResourceDefinition', '/Namespace']

/** Kinds whose objects hold data: `group/Kind`. */
export const HOLDS_DATA: readonly string[] = ['/PersistentVolumeClaim', '/PersistentVolume']
