/** Credentials for image registries, in their newer and their older form. */
export const PULL_TYPES = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg']
