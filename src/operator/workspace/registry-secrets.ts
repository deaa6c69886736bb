/** Credentials for image registries, in their newer and their older form. */
export const OF_REGISTRIES = [{ fields: 'type=kubernetes.io/dockerconfigjson' }, { fields: 'type=kubernetes.io/dockercfg' }]
