/** The key is not the one; said of content that is otherwise whole as far as it was read. */
export class WrongKey extends Error {}
