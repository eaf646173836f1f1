/**
 * From a container into the machine's own namespaces. The pod shares the machine's network and processes already; entering
 * the latter would make nsenter fork, and the job would not be the process we hold.
 */
export const enterHost = ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--']
