/* The overview once had each operation: its old address leads to the operation's page. */
if (location.pathname === "/docs" && /^#\w+\.\w+$/.test(location.hash)) location.replace(`/docs/${location.hash.slice(1)}`);
