import { ADMIN, type TroubleCause, WAIT_LIMITS } from './wait-limits.ts'

/** Things that keep the project from being cloned. Cloning is tried again by itself, and the workspace goes on when it works. */
export const OF_CLONES = {
  CloneDenied: {
    step: 'InitContainer',
    what: 'may not read the repository of the project',
    remedy:
      "See that the workspace's owner may develop the GitProject and that its credentials are valid, or name a Secret in spec.git.credentialsSecretRef; it is tried again by itself.",
    waitLimit: WAIT_LIMITS.none,
  },
  CloneNotFound: {
    step: 'InitContainer',
    what: 'finds no repository where the project should be',
    remedy: 'Correct url in the GitProject, or its credentials: many hosts say so of what they may not show.',
    waitLimit: WAIT_LIMITS.none,
  },
  CloneRefNotFound: {
    step: 'InitContainer',
    what: 'does not find the branch, tag or commit',
    remedy: 'Push it, or make the workspace again with another spec.project.ref.',
    waitLimit: WAIT_LIMITS.none,
  },
  CloneHostNotFound: {
    step: 'InitContainer',
    what: 'does not find the Git host',
    remedy: `Correct the host in url of the GitProject, or ask ${ADMIN} whether its pods can resolve that name.`,
    waitLimit: WAIT_LIMITS.registry,
  },
  CloneHostNotTrusted: {
    step: 'InitContainer',
    what: 'does not trust the Git host',
    remedy:
      "Add the host's key to known_hosts of the Secret in spec.git.credentialsSecretRef, or have its certificate authority named to the operator.",
    waitLimit: WAIT_LIMITS.none,
  },
  CloneHostSilent: {
    step: 'InitContainer',
    what: 'gets no answer from the Git host',
    remedy: `Wait, or ask ${ADMIN} whether its pods may reach that host: networkPolicy of the class names ranges (egress) and namespaces of that cluster.`,
    waitLimit: WAIT_LIMITS.registry,
  },
  CloneFailed: {
    step: 'InitContainer',
    what: 'cannot clone the project',
    remedy: `Read its log; it is tried again by itself. Where the message is about git or a command, have ${ADMIN} correct the image in projectCloner.image of the class, or workspaceImage of the installation; then berth restart --upgrade.`,
    waitLimit: WAIT_LIMITS.none,
  },
  CloneVolumeFull: {
    step: 'InitContainer',
    what: 'has no room for the project on its volume',
    remedy: 'Make the workspace again with a larger volume in its devfile, or have storage.size of the class raised.',
    waitLimit: WAIT_LIMITS.none,
  },
} as const satisfies Record<string, TroubleCause>
